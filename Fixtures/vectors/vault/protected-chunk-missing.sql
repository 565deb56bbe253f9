-- note: a chunk of a protected value deleted
-- expect: chunk/missing
-- base: good-protected-large
DELETE FROM chunk WHERE number = 1;
