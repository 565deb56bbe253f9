-- note: a slot number below 0
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET number = -1 WHERE number = 1;
