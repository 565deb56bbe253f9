-- note: no root
-- expect: root/damaged
-- base: good-three-items
DELETE FROM part WHERE id = 2;
