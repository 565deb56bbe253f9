-- note: a slot of a kind nobody knows, in the passcode's place
-- expect: slot/no-such-slot
-- base: good-three-items
UPDATE slot SET header = x'080100000100000000200000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
