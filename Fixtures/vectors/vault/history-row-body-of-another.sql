-- note: the body of another revision
-- expect: history/row
-- base: good-history
UPDATE history SET body = (SELECT body FROM history WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 3) WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 1;
