-- note: hostile costs: 1 passes, 8191 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'0101000001000000ff1f0000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
