-- note: a body's ciphertext changed, its ends kept
-- expect: item/body
-- base: good-three-items
UPDATE item SET body = CAST(substr(body, 1, 100) || zeroblob(8) || substr(body, 109) AS BLOB);
