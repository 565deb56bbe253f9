-- note: a protected half of 103 bytes
-- expect: slot/damaged
-- base: good-slots-hardware
UPDATE slot SET protected = zeroblob(103) WHERE number = 3;
