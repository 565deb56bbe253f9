-- note: another slot id: the key is bound to it
-- expect: slot/wrong-passcode
-- base: good-three-items
UPDATE slot SET header = CAST(substr(header, 1, 32) || zeroblob(16) AS BLOB) WHERE number = 0;
