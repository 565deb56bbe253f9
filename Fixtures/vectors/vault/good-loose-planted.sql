-- note: a loose value and chunks of it, by somebody without a key
-- expect: ok
-- base: good-three-items
INSERT INTO loose VALUES (zeroblob(16)); INSERT INTO chunk VALUES (zeroblob(16), 0, zeroblob(73)), (zeroblob(16), 77, zeroblob(73));
