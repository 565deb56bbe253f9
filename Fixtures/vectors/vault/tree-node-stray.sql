-- note: a node outside the tree
-- expect: tree/stray
-- base: good-three-items
INSERT INTO node SELECT 4294967296, digests FROM node;
