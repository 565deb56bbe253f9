-- note: three slots of 6 GiB·passes each: 18 together
-- expect: slot/kdf-refused
-- base: good-three-items
UPDATE slot SET header = x'010100000300000000000080000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
DELETE FROM slot WHERE number = 1;
INSERT INTO slot SELECT 1, header, key, protected FROM slot WHERE number = 0;
INSERT INTO slot SELECT 2, header, key, protected FROM slot WHERE number = 0;
