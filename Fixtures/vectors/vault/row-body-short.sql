-- note: a body shorter than a seal
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET body = substr(body, 1, 71);
