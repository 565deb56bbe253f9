-- note: a planted view
-- expect: file/schema
-- base: good-three-items
CREATE VIEW spy AS SELECT * FROM item;
