-- note: meta's first bytes changed
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET meta = CAST(zeroblob(8) || substr(meta, 9) AS BLOB);
