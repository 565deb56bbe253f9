-- note: format 0 in the header
-- expect: header/damaged
-- base: good-three-items
UPDATE part SET data = CAST(substr(data, 1, 4) || x'0000' || substr(data, 7) AS BLOB) WHERE id = 0;
