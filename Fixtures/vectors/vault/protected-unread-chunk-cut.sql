-- note: a chunk cut of what is not read
-- expect: chunk/damaged
-- base: good-protected-unread
UPDATE chunk SET data = CAST(substr(data, 1, 100) || x'' AS BLOB) WHERE number = 1;
