-- note: a header of 49 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = CAST(header || x'00' AS BLOB);
