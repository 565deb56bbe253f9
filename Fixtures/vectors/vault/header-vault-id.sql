-- note: another vault id: no key fits any more
-- expect: slot/wrong-passcode
-- base: good-three-items
UPDATE part SET data = CAST(substr(data, 1, 8) || zeroblob(16) AS BLOB) WHERE id = 0;
