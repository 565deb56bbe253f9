#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The model of merging: what it decides, and that its fuzzer notices each rule that is taken out."""

import unittest

import merge_fuzz as F
import merge_model as M


def at(device, count):
    return {"device": device, "count": count, "new_id": f"{device}{count:04}"}


class Rules(unittest.TestCase):
    def test_each_rule_that_is_taken_out_is_noticed(self):
        for rule, seed in F.RULES.items():
            with self.subTest(rule):
                self.assertIsNone(F.failure(seed, 80))
                M.OLD.add(rule)
                try:
                    self.assertIsNotNone(F.failure(seed, 80))
                finally:
                    M.OLD.clear()


class Decided(unittest.TestCase):
    def setUp(self):
        self.first = M.put(M.Item(), "v1", "a", **at("d1", 1))

    def test_an_attribute_that_a_purger_did_not_know_keeps_the_item_as_it_was_there(self):
        there = M.attr(self.first, "k", "x", **at("d2", 1))
        merged = M.merge(M.purge(self.first, **at("d1", 2)), there)
        view = M.view(merged)
        self.assertEqual(view.kind, M.LIVE)
        self.assertEqual(view.shown, {"value": "v1", "name": "a", "attr:k": "x"})
        self.assertEqual(view.conflicts, {("kind", M.PURGED)})
        again = M.purge(merged, **at("d1", 3))
        self.assertEqual(M.view(M.merge(again, there)).kind, M.PURGED)

    def test_what_stood_beside_the_shown_value_goes_with_the_purge(self):
        both = M.merge(M.put(self.first, "v2", **at("d1", 2)), M.put(self.first, "v3", **at("d2", 1)))
        there = M.attr(both, "k", "x", **at("d3", 1))
        view = M.view(M.merge(M.purge(both, **at("d1", 3)), there))
        self.assertEqual(view.shown["value"], M.view(both).shown["value"])
        self.assertEqual(view.conflicts, {("kind", M.PURGED)})

    def test_attributes_push_no_value_out_of_the_history(self):
        item = M.put(self.first, "v2", **at("d1", 2))
        for n in range(3, 30):
            item = M.prune(M.attr(item, "k", str(n), **at("d1", n)), 2)
        self.assertIn("d10001", {r.id for r in item.revisions})
        self.assertLessEqual(len(item.revisions), 1 + 2 + 2)


if __name__ == "__main__":
    unittest.main()
