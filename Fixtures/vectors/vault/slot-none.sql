-- note: no slot at all
-- expect: slot/none
-- base: good-three-items
DELETE FROM slot;
