-- note: hostile costs: 0 passes, 8192 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'010100000000000000200000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
