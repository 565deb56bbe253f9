-- note: one byte short
-- expect: header/damaged
-- base: good-three-items
UPDATE part SET data = substr(data, 1, 23) WHERE id = 0;
