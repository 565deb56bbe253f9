-- note: a newer format
-- expect: file/newer-format
-- base: good-three-items
PRAGMA user_version = 3;
