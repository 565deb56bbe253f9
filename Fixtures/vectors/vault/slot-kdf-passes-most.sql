-- note: hostile costs: 4294967295 passes, 8192 bytes
-- expect: slot/kdf-refused
-- base: good-three-items
UPDATE slot SET header = x'01010000ffffffff00200000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
