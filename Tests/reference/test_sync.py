#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The model of syncing: the attacks of a store, and that clocks have no part in anything."""
import unittest

import merge_model as M
import sync_attacks as A
import sync_fuzz as F
import sync_vault as V


class Attacks(unittest.TestCase):
    def test_each_attack_is_named_within_one_pull_and_none_is_taken(self):
        self.assertEqual(len(A.TEN), 10)
        for attack in A.TEN + A.HELPED:
            with self.subTest(attack.__name__):
                wanted, named, took, recovered = A.outcome(attack)
                self.assertIn(wanted, named)
                self.assertFalse(took)
                self.assertTrue(recovered)

    def test_an_honest_store_gives_rise_to_no_alarm(self):
        stage = A.Stage()
        stage.change(stage.phone)
        stage.sync(stage.phone)
        named, took = stage.pull(stage.desk)
        self.assertEqual(named, set())
        self.assertTrue(took)


class Planted(unittest.TestCase):
    def test_each_rule_that_is_left_out_is_noticed(self):
        for rules, table in ((F.FAULTS, V.FAULTS), (F.MERGE_FAULTS, M.OLD)):
            for rule, seed in rules.items():
                with self.subTest(rule):
                    self.assertIsNone(F.failure(seed, 120))
                    table.add(rule)
                    try:
                        self.assertIsNotNone(F.failure(seed, 120))
                    finally:
                        table.clear()

    def test_each_check_that_is_left_out_lets_an_attack_through(self):
        for rule, attack in A.FAULTS.items():
            with self.subTest(rule):
                V.FAULTS.add(rule)
                try:
                    wanted, named, took, recovered = A.outcome(attack)
                    self.assertFalse(wanted in named and not took and recovered)
                finally:
                    V.FAULTS.clear()


class Rounds(unittest.TestCase):
    def test_a_round_waits_for_what_was_here_when_it_was_begun(self):
        for fault, reached in (set(), False), ({"round early"}, True):
            stage = A.Stage()
            stage.change(stage.tower)
            stage.sync(stage.tower)
            path = stage.newest_pack(stage.tower)
            for _ in stage.world.session(stage.desk, compacts=True).run():
                pass
            asked = {stage.desk.vault.device: stage.desk.vault.told.round}
            late = stage.store.pop(path)
            V.FAULTS.update(fault)
            try:
                stage.sync(stage.phone)
            finally:
                V.FAULTS.clear()
            self.assertEqual(stage.phone.vault.told.rounds == asked, reached)
            stage.store[path] = late
            stage.sync(stage.phone)
            self.assertEqual(stage.phone.vault.told.rounds, asked)

    def test_a_round_that_a_new_key_cuts_off_is_begun_once_more(self):
        for fault, begins in (set(), True), ({"ended"}, False):
            stage = A.Stage()
            for _ in stage.world.session(stage.desk, compacts=True).run():
                pass
            since = dict(stage.store)
            stage.world.do_rekey(stage.tower)
            stage.store.clear()
            stage.store.update(stage.first)
            stage.sync(stage.tower)
            stage.store.update({path: file for path, file in since.items() if path not in stage.store})
            V.FAULTS.update(fault)
            try:
                stage.sync(stage.desk, passcode=True)
            finally:
                V.FAULTS.clear()
            self.assertEqual(stage.desk.vault.epoch, stage.tower.vault.epoch)
            self.assertEqual(stage.desk.vault.told.round > 0, begins)
            stage.sync(stage.phone, stage.tower, stage.desk, passcode=True)
            self.assertEqual(stage.desk.vault.device in stage.tower.vault.told.rounds, begins)


class Clocks(unittest.TestCase):
    def test_clocks_that_are_wrong_by_years_change_nothing(self):
        for seed in range(3):
            right, wrong = (F.run(seed, 60, clocks=clocks) for clocks in (False, True))
            self.assertEqual(*([w.ledger.print_of(m.vault) for m in w.machines] for w in (right, wrong)))
            self.assertNotEqual(*({m.offset for m in w.machines} for w in (right, wrong)))


if __name__ == "__main__":
    unittest.main()
