-- note: a byte too many
-- expect: tree/leaf
-- base: good-history
UPDATE item SET history = CAST(history || x'00' AS BLOB) WHERE length(history) = 120;
