-- note: costs changed in the header
-- expect: slot/wrong-passcode
-- base: good-three-items
UPDATE slot SET header = CAST(substr(header, 1, 4) || x'02000000' || substr(header, 9) AS BLOB) WHERE number = 0;
