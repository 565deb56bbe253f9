-- note: a planted trigger
-- expect: file/schema
-- base: good-three-items
CREATE TRIGGER spy AFTER INSERT ON item BEGIN DELETE FROM history; END;
