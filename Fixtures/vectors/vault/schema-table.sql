-- note: a planted table
-- expect: file/schema
-- base: good-three-items
CREATE TABLE spy (id INTEGER PRIMARY KEY) STRICT;
