-- note: no slot at all
-- expect: slot/damaged
-- base: good-three-items
DELETE FROM slot;
