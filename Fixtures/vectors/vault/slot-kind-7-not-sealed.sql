-- note: a disabled slot that says more of itself than its id
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'070100000100000000200000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
