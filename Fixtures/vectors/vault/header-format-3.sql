-- note: format 3 in the header
-- expect: header/newer-format
-- base: good-three-items
UPDATE part SET data = CAST(substr(data, 1, 4) || x'0300' || substr(data, 7) AS BLOB) WHERE id = 0;
