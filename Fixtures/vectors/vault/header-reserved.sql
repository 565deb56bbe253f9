-- note: reserved bytes that are not zero
-- expect: header/damaged
-- base: good-three-items
UPDATE part SET data = CAST(substr(data, 1, 6) || x'0100' || substr(data, 9) AS BLOB) WHERE id = 0;
