-- note: 12 bytes of a slot's key replaced: its commitment
-- expect: slot/wrong-passcode
-- base: good-three-items
UPDATE slot SET key = CAST(substr(key, 1, 24) || zeroblob(12) || substr(key, 37) AS BLOB) WHERE number = 0;
