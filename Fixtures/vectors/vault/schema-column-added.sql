-- note: a column too many
-- expect: file/schema
-- base: good-three-items
ALTER TABLE part ADD COLUMN extra BLOB;
