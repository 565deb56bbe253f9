-- note: an earlier revision deleted
-- expect: history/row-missing
-- base: good-history
DELETE FROM history WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 2;
