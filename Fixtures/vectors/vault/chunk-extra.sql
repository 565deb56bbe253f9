-- note: a chunk after the last
-- expect: chunk/stray
-- base: good-chunked
INSERT INTO chunk SELECT value, 3, data FROM chunk WHERE number = 2;
