-- note: a recovery key with Argon2id's costs
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = x'020000000100000000200000000000000000000000000000000000000000000000000000000000000000000000000000' WHERE number = 0;
