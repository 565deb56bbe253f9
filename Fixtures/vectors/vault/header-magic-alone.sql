-- note: a header of its magic alone
-- expect: header/damaged
-- base: good-three-items
UPDATE part SET data = substr(data, 1, 4) WHERE id = 0;
