-- note: another revision number
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET revision = 2;
