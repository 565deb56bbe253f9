-- note: a leaf twice
-- expect: tree/bucket
-- base: good-three-items
UPDATE bucket SET leaves = CAST(leaves || leaves AS BLOB) WHERE number = (SELECT min(number) FROM bucket);
