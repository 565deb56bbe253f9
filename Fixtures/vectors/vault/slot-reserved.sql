-- note: reserved bytes that are not zero
-- expect: slot/damaged
-- base: good-three-items
UPDATE slot SET header = CAST(substr(header, 1, 2) || x'0001' || substr(header, 5) AS BLOB);
