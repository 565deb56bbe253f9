-- note: a root shorter than a seal
-- expect: root/damaged
-- base: good-three-items
UPDATE part SET data = substr(data, 1, 71) WHERE id = 2;
