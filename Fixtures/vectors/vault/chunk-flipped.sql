-- note: ciphertext changed
-- expect: chunk/damaged
-- base: good-chunked
UPDATE chunk SET data = CAST(substr(data, 1, 5000) || zeroblob(8) || substr(data, 5009) AS BLOB) WHERE value = (SELECT value FROM chunk WHERE number = 2) AND number = 1;
