-- note: 17 slots
-- expect: slot/too-many
-- base: good-slots-16
INSERT INTO slot SELECT 16, header, key, protected FROM slot WHERE number = 15;
