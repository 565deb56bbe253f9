-- note: no header
-- expect: header/damaged
-- base: good-three-items
DELETE FROM part WHERE id = 0;
