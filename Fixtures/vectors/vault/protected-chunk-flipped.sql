-- note: a chunk of a protected value changed
-- expect: chunk/damaged
-- base: good-protected-large
UPDATE chunk SET data = CAST(substr(data, 1, 100) || zeroblob(8) || substr(data, 109) AS BLOB) WHERE number = 1;
