-- note: a protected row's class changed by somebody without a key
-- expect: tree/leaf
-- base: good-protected
UPDATE item SET class = 0;
