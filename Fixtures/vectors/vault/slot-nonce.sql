-- note: 12 bytes of a slot's key replaced: its nonce
-- expect: slot/wrong-passcode
-- base: good-three-items
UPDATE slot SET key = CAST(substr(key, 1, 0) || zeroblob(12) || substr(key, 13) AS BLOB) WHERE number = 0;
