-- note: no format at all
-- expect: file/not-a-vault
-- base: good-three-items
PRAGMA user_version = 0;
