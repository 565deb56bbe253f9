-- note: one byte long
-- expect: header/damaged
-- base: good-three-items
UPDATE part SET data = CAST(data || x'00' AS BLOB) WHERE id = 0;
