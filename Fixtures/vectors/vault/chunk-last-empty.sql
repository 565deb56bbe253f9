-- note: a last chunk that holds nothing
-- expect: chunk/damaged
-- base: good-chunked
INSERT OR REPLACE INTO chunk VALUES (x'8d62d8ff2f83fe6cb5f28e492dc1b848', 2, x'cab696f3cb804cd74de6e7f6d588b64576f9e2ec894515785c69ebf705053b802676c19a24ae066fe3af603b6c7660bdb61ac0682335687aebdbd2262985605e4722a093a69e4dd1');
