-- note: a leaf changed
-- expect: tree/bucket
-- base: good-three-items
UPDATE bucket SET leaves = CAST(substr(leaves, 1, 44) || zeroblob(4) || substr(leaves, 49) AS BLOB) WHERE number = (SELECT min(number) FROM bucket);
