-- note: a history column emptied
-- expect: tree/leaf
-- base: good-history
UPDATE item SET history = x'' WHERE length(history) = 120;
