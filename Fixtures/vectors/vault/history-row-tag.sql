-- note: another tag
-- expect: history/row
-- base: good-history
UPDATE history SET tag = zeroblob(16) WHERE item = (SELECT item FROM history GROUP BY item HAVING count(*) = 3) AND revision = 1;
