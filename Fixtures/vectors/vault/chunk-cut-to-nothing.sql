-- note: a chunk of no bytes
-- expect: chunk/damaged
-- base: good-chunked
UPDATE chunk SET data = x'' WHERE value = (SELECT value FROM chunk WHERE number = 2) AND number = 1;
