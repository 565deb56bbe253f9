-- note: a live value planted among the loose ones
-- expect: loose/live-value
-- base: good-chunked
INSERT INTO loose VALUES ((SELECT value FROM chunk WHERE number = 2));
