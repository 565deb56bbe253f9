-- note: another generation
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET generation = 2;
