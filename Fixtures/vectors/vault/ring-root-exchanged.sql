-- note: ring and root exchanged
-- expect: ring/damaged
-- base: good-three-items
UPDATE part SET data = (SELECT data FROM part p WHERE p.id = 3 - part.id) WHERE id = 1;
