-- note: a header of 47 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = substr(header, 1, 47);
