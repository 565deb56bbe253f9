-- note: a chunk deleted of what is not read
-- expect: chunk/missing
-- base: good-protected-unread
DELETE FROM chunk WHERE number = 1;
