-- note: hostile costs: 1 passes, 0 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'010100000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
