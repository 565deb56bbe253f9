-- note: hostile costs: 17 passes, 8192 bytes
-- expect: slot/kdf-refused
-- base: good-three-items
UPDATE slot SET header = x'010100001100000000200000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
