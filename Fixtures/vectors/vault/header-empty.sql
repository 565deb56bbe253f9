-- note: a header of no bytes
-- expect: file/not-a-vault
-- base: good-three-items
UPDATE part SET data = x'' WHERE id = 0;
