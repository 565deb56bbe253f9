-- note: a loose value of 3 bytes
-- expect: loose/damaged
-- base: good-three-items
INSERT INTO loose VALUES (x'010203');
