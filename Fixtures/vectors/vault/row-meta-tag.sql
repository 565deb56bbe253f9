-- note: meta's last bytes changed
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET meta = CAST(substr(meta, 1, length(meta) - 8) || zeroblob(8) AS BLOB);
