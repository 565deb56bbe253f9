-- note: a slot of a kind nobody knows
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'070100000100000000200000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
