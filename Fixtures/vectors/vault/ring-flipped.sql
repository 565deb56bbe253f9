-- note: ciphertext changed
-- expect: ring/damaged
-- base: good-three-items
UPDATE part SET data = CAST(substr(data, 1, 100) || zeroblob(4) || substr(data, 105) AS BLOB) WHERE id = 1;
