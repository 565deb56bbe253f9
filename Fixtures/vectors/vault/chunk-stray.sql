-- note: a chunk of a value that nothing names
-- expect: chunk/stray
-- base: good-chunked
INSERT INTO chunk SELECT zeroblob(16), 0, data FROM chunk WHERE number = 2;
