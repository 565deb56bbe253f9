-- note: a planted virtual table
-- expect: file/schema
-- base: good-three-items
CREATE VIRTUAL TABLE spy USING fts5(a);
