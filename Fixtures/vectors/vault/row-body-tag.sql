-- note: body's last bytes changed
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET body = CAST(substr(body, 1, length(body) - 8) || zeroblob(8) AS BLOB);
