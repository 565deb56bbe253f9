-- note: five slots with Argon2id
-- expect: slot/too-many
-- base: good-slots-16
UPDATE slot SET header = (SELECT header FROM slot WHERE number = 0) WHERE number = 15;
