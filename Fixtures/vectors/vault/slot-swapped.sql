-- note: keys of two slots exchanged
-- expect: slot/wrong-passcode
-- base: good-three-items
UPDATE slot SET key = (SELECT key FROM slot s WHERE s.number = 1 - slot.number) WHERE number = 0;
