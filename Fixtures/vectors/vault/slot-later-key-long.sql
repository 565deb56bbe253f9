-- note: a slot of a later release: 65,537 bytes of key
-- expect: slot/damaged
-- base: good-three-items
INSERT INTO slot VALUES (9, CAST(x'08' || zeroblob(47) AS BLOB), zeroblob(65537), zeroblob(1));
