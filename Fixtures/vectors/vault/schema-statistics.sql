-- note: the table that ANALYZE makes
-- expect: file/schema
-- base: good-three-items
ANALYZE;
