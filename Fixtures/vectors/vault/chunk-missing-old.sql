-- note: a chunk of an earlier revision deleted
-- expect: chunk/missing
-- base: good-chunked
DELETE FROM chunk WHERE value = (SELECT value FROM chunk WHERE number = 0 AND value <> (SELECT value FROM chunk WHERE number = 2)) AND number = 1;
