-- note: a slot of a later release: 47 bytes of header
-- expect: slot/damaged
-- base: good-three-items
INSERT INTO slot VALUES (9, CAST(x'08' || zeroblob(46) AS BLOB), zeroblob(1), zeroblob(1));
