-- note: hostile costs: 1 passes, 2147484672 bytes
-- expect: slot/kdf-refused
-- base: good-three-items
UPDATE slot SET header = x'010100000100000000040080000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
