-- note: five slots with Argon2id, four of them of a TPM
-- expect: slot/too-many
-- base: good-slots-hardware
INSERT INTO slot SELECT number + 8, header, key, protected FROM slot WHERE number = 1; INSERT INTO slot SELECT number + 2, header, key, protected FROM slot WHERE number = 9; INSERT INTO slot SELECT number + 1, header, key, protected FROM slot WHERE number = 11;
