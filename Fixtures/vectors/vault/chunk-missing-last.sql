-- note: the last chunk deleted
-- expect: chunk/missing
-- base: good-chunked
DELETE FROM chunk WHERE value = (SELECT value FROM chunk WHERE number = 2) AND number = 2;
