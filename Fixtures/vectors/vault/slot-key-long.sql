-- note: a passcode's key of 584 bytes
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET key = zeroblob(584) WHERE number = 0;
