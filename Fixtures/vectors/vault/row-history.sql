-- note: a planted history column
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET history = zeroblob(40);
