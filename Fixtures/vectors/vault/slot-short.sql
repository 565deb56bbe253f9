-- note: a key shorter than a seal
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET key = substr(key, 1, 71) WHERE number = 0;
