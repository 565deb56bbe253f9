-- note: a table that is not STRICT
-- expect: file/schema
-- base: good-three-items
DROP TABLE loose; CREATE TABLE loose (value BLOB PRIMARY KEY) WITHOUT ROWID;
