-- note: no key ring
-- expect: ring/damaged
-- base: good-three-items
DELETE FROM part WHERE id = 1;
