-- note: a slot's protected half removed
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET protected = x'' WHERE number = 0;
