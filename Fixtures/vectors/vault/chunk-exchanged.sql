-- note: two chunks exchanged
-- expect: chunk/damaged
-- base: good-chunked
UPDATE chunk SET number = 9 - number WHERE value = (SELECT value FROM chunk WHERE number = 2) AND number < 2; UPDATE chunk SET number = number - 8 WHERE number > 7;
