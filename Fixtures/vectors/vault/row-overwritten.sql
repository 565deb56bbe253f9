-- note: a row copied over another's
-- expect: tree/leaf
-- base: good-three-items
UPDATE item SET (id, revision, generation, class, kind, history, meta, body) = (SELECT id, revision, generation, class, kind, history, meta, body FROM item o WHERE o.tag = (SELECT max(tag) FROM item)) WHERE tag = (SELECT min(tag) FROM item);
