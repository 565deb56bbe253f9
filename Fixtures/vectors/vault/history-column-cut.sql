-- note: the last entry cut off
-- expect: tree/leaf
-- base: good-history
UPDATE item SET history = substr(history, 1, 80) WHERE length(history) = 120;
