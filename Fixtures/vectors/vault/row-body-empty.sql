-- note: a body of no bytes
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET body = x'';
