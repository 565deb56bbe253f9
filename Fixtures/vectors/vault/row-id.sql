-- note: another item id
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET id = zeroblob(16);
