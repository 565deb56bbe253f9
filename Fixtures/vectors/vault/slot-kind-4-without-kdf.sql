-- note: a short code without Argon2id
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'040000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
