-- note: meta's ciphertext changed, its ends kept
-- expect: item/meta
-- base: good-three-items
UPDATE item SET meta = CAST(substr(meta, 1, 100) || zeroblob(8) || substr(meta, 109) AS BLOB);
