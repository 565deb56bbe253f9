-- note: a revision that no history names
-- expect: history/stray
-- base: good-history
INSERT INTO history SELECT item, 9, tag, generation, class, kind, meta, body FROM history WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 1;
