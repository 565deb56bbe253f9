-- note: a row deleted
-- expect: tree/row-missing
-- base: good-three-items
DELETE FROM item WHERE tag = (SELECT min(tag) FROM item);
