-- note: a slot moved to another number
-- expect: root/header-digest
-- base: good-three-items
UPDATE slot SET number = 5 WHERE number = 1;
