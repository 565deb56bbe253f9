-- note: the tables made in another order, as by who copied them
-- expect: ok
-- base: good-three-items
DROP TABLE loose; CREATE TABLE loose (value BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
