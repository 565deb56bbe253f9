-- note: the slot that was not asked is damaged
-- expect: root/header-digest
-- base: good-three-items
UPDATE slot SET key = zeroblob(328) WHERE number = 1;
