-- note: two entries exchanged
-- expect: tree/leaf
-- base: good-history
UPDATE item SET history = CAST(substr(history, 41, 40) || substr(history, 1, 40) || substr(history, 81) AS BLOB) WHERE length(history) = 120;
