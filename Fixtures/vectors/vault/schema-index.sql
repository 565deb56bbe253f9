-- note: a planted index
-- expect: file/schema
-- base: good-three-items
CREATE INDEX spy ON item (id);
