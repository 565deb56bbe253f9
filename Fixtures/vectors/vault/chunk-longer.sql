-- note: a byte appended
-- expect: chunk/damaged
-- base: good-chunked
UPDATE chunk SET data = CAST(data || x'00' AS BLOB) WHERE value = (SELECT value FROM chunk WHERE number = 2) AND number = 1;
