-- note: a schema text that differs in one space
-- expect: file/schema
-- base: good-three-items
DROP TABLE loose; CREATE TABLE loose (value  BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
