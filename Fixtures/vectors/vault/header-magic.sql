-- note: another magic
-- expect: file/not-a-vault
-- base: good-three-items
UPDATE part SET data = CAST(CAST('KURB' AS BLOB) || substr(data, 5) AS BLOB) WHERE id = 0;
