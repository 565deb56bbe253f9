-- note: a negative format
-- expect: file/not-a-vault
-- base: good-three-items
PRAGMA user_version = -1;
