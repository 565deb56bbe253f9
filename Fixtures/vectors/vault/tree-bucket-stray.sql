-- note: a bucket outside the tree
-- expect: tree/stray
-- base: good-three-items
INSERT INTO bucket SELECT 64, leaves FROM bucket WHERE number = (SELECT min(number) FROM bucket);
