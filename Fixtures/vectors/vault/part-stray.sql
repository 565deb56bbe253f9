-- note: a part nobody knows
-- expect: file/stray
-- base: good-three-items
INSERT INTO part VALUES (3, x'00');
