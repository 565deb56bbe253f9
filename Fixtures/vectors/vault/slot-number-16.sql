-- note: a slot number beyond 15
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET number = 16 WHERE number = 1;
