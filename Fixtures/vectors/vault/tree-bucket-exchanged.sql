-- note: two buckets exchanged
-- expect: tree/bucket
-- base: good-three-items
UPDATE bucket SET number = (SELECT min(number) FROM bucket) + (SELECT max(number) FROM bucket) - number + 1000 WHERE number IN ((SELECT min(number) FROM bucket), (SELECT max(number) FROM bucket)); UPDATE bucket SET number = number - 1000 WHERE number >= 1000;
