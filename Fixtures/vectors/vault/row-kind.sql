-- note: marked deleted
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET kind = 1;
