-- note: a database without an application id
-- expect: file/not-a-vault
-- base: good-three-items
PRAGMA application_id = 0;
