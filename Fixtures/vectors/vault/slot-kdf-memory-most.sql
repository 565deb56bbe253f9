-- note: hostile costs: 1 passes, 18446744073709551615 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'0101000001000000ffffffffffffffff0000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
