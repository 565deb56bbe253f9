-- note: ciphertext changed, its ends kept
-- expect: item/body
-- base: good-history
UPDATE history SET body = CAST(substr(body, 1, 100) || zeroblob(8) || substr(body, 109) AS BLOB) WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 1;
