-- note: an earlier revision's value planted there
-- expect: loose/live-value
-- base: good-chunked
INSERT INTO loose VALUES ((SELECT value FROM chunk WHERE number = 0 AND value <> (SELECT value FROM chunk WHERE number = 2)));
