-- note: hostile costs: 1 passes, 7168 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'0101000001000000001c0000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
