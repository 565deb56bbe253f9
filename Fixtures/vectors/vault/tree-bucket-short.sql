-- note: a length that is no multiple of 48
-- expect: tree/bucket
-- base: good-three-items
UPDATE bucket SET leaves = substr(leaves, 1, 47) WHERE number = (SELECT min(number) FROM bucket);
