-- note: a revision of an item there is not
-- expect: history/stray
-- base: good-history
INSERT INTO history SELECT zeroblob(16), 1, tag, generation, class, kind, meta, body FROM history WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 1;
