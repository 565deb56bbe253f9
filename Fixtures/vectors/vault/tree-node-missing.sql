-- note: the top node deleted
-- expect: tree/node
-- base: good-three-items
DELETE FROM node;
