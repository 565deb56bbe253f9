-- note: a key of 329 bytes
-- expect: slot/damaged
-- base: good-slots-hardware
UPDATE slot SET key = zeroblob(329) WHERE number = 3;
