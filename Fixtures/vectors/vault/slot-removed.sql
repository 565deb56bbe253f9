-- note: a slot deleted without the vault key
-- expect: root/header-digest
-- base: good-three-items
DELETE FROM slot WHERE number = 1;
