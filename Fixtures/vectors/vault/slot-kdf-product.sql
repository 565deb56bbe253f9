-- note: hostile costs: 5 passes, 2147483648 bytes
-- expect: slot/kdf-refused
-- base: good-three-items
UPDATE slot SET header = x'010100000500000000000080000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
