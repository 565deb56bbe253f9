-- note: the last chunk sealed without the last flag
-- expect: chunk/damaged
-- base: good-chunked
INSERT OR REPLACE INTO chunk VALUES (x'8d62d8ff2f83fe6cb5f28e492dc1b848', 2, x'cab696f3cb804cd74de6e7f6d588b64576f9e2ec89451578908d24e570346047a2c171707c795721306245ee8b1487459ce74953a2f45c939fdaa85e8a4723cca9e33766096d4cd4e7');
