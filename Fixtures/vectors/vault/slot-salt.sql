-- note: another salt
-- expect: slot/wrong-passcode
-- base: good-three-items
UPDATE slot SET header = CAST(substr(header, 1, 16) || zeroblob(16) || substr(header, 33) AS BLOB) WHERE number = 0;
