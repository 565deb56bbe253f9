-- note: another class
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET class = 1;
