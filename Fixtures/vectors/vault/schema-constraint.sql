-- note: a CHECK that runs code at each write
-- expect: file/schema
-- base: good-three-items
DROP TABLE loose; CREATE TABLE loose (value BLOB PRIMARY KEY CHECK (length(value) > 0)) STRICT, WITHOUT ROWID;
