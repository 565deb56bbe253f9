-- note: a chunk of the earlier revision's value
-- expect: chunk/damaged
-- base: good-chunked
UPDATE chunk SET data = (SELECT data FROM chunk WHERE value = (SELECT value FROM chunk WHERE number = 0 AND value <> (SELECT value FROM chunk WHERE number = 2)) AND number = 0) WHERE value = (SELECT value FROM chunk WHERE number = 2) AND number = 0;
