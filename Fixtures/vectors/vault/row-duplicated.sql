-- note: a row copied to a tag of its own
-- expect: tree/stray
-- base: good-three-items
INSERT INTO item SELECT CAST(substr(tag, 1, 12) || x'00000000' AS BLOB), id, revision, generation, class, kind, history, meta, body FROM item WHERE tag = (SELECT min(tag) FROM item);
