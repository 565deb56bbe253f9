-- note: ciphertext changed
-- expect: root/damaged
-- base: good-three-items
UPDATE part SET data = CAST(substr(data, 1, 80) || x'00000000' || substr(data, 85) AS BLOB) WHERE id = 2;
