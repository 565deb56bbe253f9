-- note: a slot's protected half changed
-- expect: root/header-digest
-- base: good-three-items
UPDATE slot SET protected = CAST(substr(protected, 1, 100) || zeroblob(4) AS BLOB) WHERE number = 0;
