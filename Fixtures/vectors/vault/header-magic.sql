-- note: another magic
-- expect: header/damaged
-- base: good-three-items
UPDATE part SET data = CAST(CAST('KURB' AS BLOB) || substr(data, 5) AS BLOB) WHERE id = 0;
