-- note: a slot's protected half removed
-- expect: root/header-digest
-- base: good-three-items
UPDATE slot SET protected = x'' WHERE number = 0;
