-- note: two earlier revisions exchanged
-- expect: history/row
-- base: good-history
UPDATE history SET revision = 30 - revision WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision < 3; UPDATE history SET revision = revision - 27 WHERE revision > 20;
