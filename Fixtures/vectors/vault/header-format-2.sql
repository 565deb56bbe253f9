-- note: format 2 in the header
-- expect: header/newer-format
-- base: good-three-items
UPDATE part SET data = CAST(substr(data, 1, 4) || x'0200' || substr(data, 7) AS BLOB) WHERE id = 0;
