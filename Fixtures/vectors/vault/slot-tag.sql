-- note: 12 bytes of a slot's key replaced: the last 12 bytes of its tag
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET key = CAST(substr(key, 1, 316) || zeroblob(12) || substr(key, 329) AS BLOB) WHERE number = 0;
