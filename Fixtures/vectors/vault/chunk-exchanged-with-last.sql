-- note: the first and the last chunk exchanged
-- expect: chunk/damaged
-- base: good-chunked
UPDATE chunk SET number = 12 - number WHERE number IN (0, 2) AND value = (SELECT value FROM chunk WHERE number = 2); UPDATE chunk SET number = number - 10 WHERE number > 9;
