-- note: another program's database
-- expect: file/not-a-vault
-- base: good-three-items
PRAGMA application_id = 1;
