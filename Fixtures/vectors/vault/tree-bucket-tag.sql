-- note: a tag changed
-- expect: tree/bucket
-- base: good-three-items
UPDATE bucket SET leaves = CAST(substr(leaves, 1, 12) || zeroblob(4) || substr(leaves, 17) AS BLOB) WHERE number = (SELECT min(number) FROM bucket);
