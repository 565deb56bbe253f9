-- note: a table too few
-- expect: file/schema
-- base: good-three-items
DROP TABLE loose;
