-- note: a node where the tree has none, by somebody without a key
-- expect: tree/stray
-- base: good-depth-2
INSERT INTO node SELECT (1 << 32) + n, (SELECT digests FROM node WHERE id > 0 LIMIT 1) FROM (SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3) WHERE (1 << 32) + n NOT IN (SELECT id FROM node) LIMIT 1;
