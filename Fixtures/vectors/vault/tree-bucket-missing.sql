-- note: a bucket deleted
-- expect: tree/bucket
-- base: good-three-items
DELETE FROM bucket WHERE number = (SELECT min(number) FROM bucket);
