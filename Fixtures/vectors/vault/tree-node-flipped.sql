-- note: a digest changed
-- expect: tree/node
-- base: good-three-items
UPDATE node SET digests = CAST(zeroblob(32) || x'01' || substr(digests, 34) AS BLOB);
