-- note: a last chunk longer than the length says
-- expect: chunk/damaged
-- base: good-chunked
INSERT OR REPLACE INTO chunk VALUES (x'8d62d8ff2f83fe6cb5f28e492dc1b848', 2, x'cab696f3cb804cd74de6e7f6d588b64576f9e2ec894515785c69ebf705053b802676c19a24ae066fe3af603b6c7660bdb61ac0682335687afd4a02a689fc52f12a0c935f013284acde52');
