-- note: another kind
-- expect: history/row
-- base: good-history
UPDATE history SET kind = 1 WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 1;
