-- note: a bucket where the tree has none
-- expect: tree/bucket
-- base: good-three-items
INSERT INTO bucket SELECT 63 - (SELECT min(number) FROM bucket), leaves FROM bucket WHERE number = (SELECT min(number) FROM bucket);
