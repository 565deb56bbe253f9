-- note: 12 bytes of a slot's key replaced: its ciphertext
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET key = CAST(substr(key, 1, 56) || zeroblob(12) || substr(key, 69) AS BLOB) WHERE number = 0;
