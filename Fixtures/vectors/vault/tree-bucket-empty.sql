-- note: a bucket emptied
-- expect: tree/bucket
-- base: good-three-items
UPDATE bucket SET leaves = x'' WHERE number = (SELECT min(number) FROM bucket);
