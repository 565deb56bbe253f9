-- note: a ring shorter than a seal
-- expect: ring/damaged
-- base: good-three-items
UPDATE part SET data = substr(data, 1, 71) WHERE id = 1;
