-- note: a node of 2,047 bytes
-- expect: tree/node
-- base: good-three-items
UPDATE node SET digests = substr(digests, 1, 2047);
