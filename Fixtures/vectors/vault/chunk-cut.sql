-- note: a chunk cut short
-- expect: chunk/damaged
-- base: good-chunked
UPDATE chunk SET data = substr(data, 1, 30000) WHERE value = (SELECT value FROM chunk WHERE number = 2) AND number = 1;
