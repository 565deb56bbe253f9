#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A whole vault of format 2, as the page has it: taken over, changed, read again, verified, bent."""

import tempfile
import unittest
from dataclasses import replace

from kura_format import Refused, Source
from kura_remote import head_id
from kura_shared import Memory, Standing
from kura_taken import TakenVault
from kura_vault import Vault
from kura_verify import findings
from vector_file import pattern


class Taken(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = directory.name + "/v.kura"
        vault = Vault.create(self.path, b"p", source=Source("taken"))
        vault.put(b"old", b"first")
        vault.put(b"old", b"second", {b"user": b"mary"})
        vault.put(b"guarded", b"inside", cls=1)
        vault.put(b"large", pattern(200_000))
        vault.put(b"gone", b"x")
        vault.remove(b"gone")
        self.vault = TakenVault.take_over(vault)
        self.addCleanup(lambda: self.vault.close())

    def reopened(self):
        secret = self.vault.protected_secret
        self.vault.close()
        self.vault = TakenVault.open(self.path, b"p")
        self.assertEqual(self.vault.protected_secret, secret)
        return self.vault

    def test_what_was_there_is_read_and_whole(self):
        vault = self.reopened()
        self.assertEqual(vault.get(b"old")[1], b"second")
        self.assertEqual(vault.get(b"old", 1)[1], b"first")
        self.assertEqual(vault.get(b"guarded")[1], b"inside")
        self.assertEqual(vault.get(b"large")[1], pattern(200_000))
        self.assertRaises(Refused, vault.get, b"gone")
        self.assertEqual(list(findings(vault)), [])
        self.assertEqual(vault.root.counter, 0)

    def test_a_reader_of_format_1_says_newer(self):
        self.vault.close()
        with self.assertRaises(Refused) as refused:
            Vault.open(self.path, b"p")
        self.assertEqual(refused.exception.code, "file/newer-format")
        self.vault = TakenVault.open(self.path, b"p")

    def test_a_version_without_its_header_is_damage(self):
        self.vault.db.execute("PRAGMA user_version = 1")
        self.vault.db.execute("DROP TABLE journal")
        self.vault.close()
        for reader in (Vault, TakenVault):
            with self.assertRaises(Refused) as refused:
                reader.open(self.path, b"p")
            self.assertIn(refused.exception.code, ("header/newer-format", "header/damaged"))
        self.vault = Vault.create(self.path + "2", b"p")

    def test_secret_attributes_stand_with_the_value(self):
        secrets = {b"pin": b"1234", b"user": b""}
        for name, cls in ((b"plain", 0), (b"hidden", 1)):
            self.vault.put(name, b"value", {b"url": b"x"}, cls, secrets)
        vault = self.reopened()
        for name in (b"plain", b"hidden"):
            meta, value = vault.get(name)
            row = vault.row(vault.tag(name))
            self.assertEqual(value, b"value")
            self.assertEqual(meta.secrets, [(b"pin", 4), (b"user", 0)])
            self.assertEqual(vault.secrets(row), secrets)
        self.assertEqual(list(findings(vault)), [])
        vault.protected_secret = None
        self.assertEqual(list(findings(vault)), [])

    def test_revisions_follow_those_before_the_takeover(self):
        before = self.vault.lineage(self.vault.row(self.vault.tag(b"old")))
        self.vault.put(b"old", b"third")
        vault = self.reopened()
        row = vault.row(vault.tag(b"old"))
        self.assertTrue(vault.lineage(row).follows(before))
        self.assertFalse(before.follows(vault.lineage(row)))
        self.assertEqual(vault.lineage(row).entry, (vault.root.device, 1))
        kept = vault.old_row(row, 2)
        self.assertEqual(vault.lineage(kept), before)

    def test_what_is_purged_leaves_what_it_was(self):
        row = self.vault.row(self.vault.tag(b"old"))
        known = self.vault.lineage(row)
        self.vault.purge(b"old")
        vault = self.reopened()
        self.assertRaises(Refused, vault.get, b"old")
        left = vault.row(vault.purge_tag(row.id))
        vector, sides = vault.purged(left)
        self.assertEqual((vector, sides), (known.vector, []))
        self.assertNotIn(b"old", [meta.name for _, meta in vault.list()])
        self.assertEqual(list(findings(vault)), [])

    def test_the_journal_is_proved_by_the_root(self):
        records = [(n, bytes([n]) * 16, bytes(16)) for n in range(1, 131)]
        with self.vault.change():
            self.vault.store_journal(records)
        vault = self.reopened()
        self.assertEqual(vault.journal(), records)
        self.assertEqual(list(findings(vault)), [])
        vault.db.execute("DELETE FROM journal WHERE number = 3")
        self.assertEqual([f.code for f in findings(vault)], ["journal/damaged"])

    def test_what_a_shared_vault_remembers_is_vouched_for(self):
        device, other, value = self.vault.root.device, b"\xee" * 16, b"v" * 16
        head, own = b"a head", b"the head that is being written"
        note = (0, 1, bytes(16), (4, head_id(head)), (0, bytes(16)), 3, 0, head_id(head), bytes(32), b"")
        notes = sorted([(other, *note), (device, *note[:7], bytes(16), *note[8:])])
        standing = Standing((5, head_id(own)), 0, [], [(other, [(1, 3)])])
        memory = Memory(device, 1, b"record", [], [], standing, [standing])
        place = (17, other, [(bytes(32), 1_000), (bytes(32), 900)])
        self.vault.share(notes, memory, [(other, head), (bytes(16), own)], [(value, place)])
        vault = self.reopened()
        self.assertEqual((vault.devices(), vault.remote()), (notes, memory))
        self.assertEqual(vault.heads(), {other: head, bytes(16): own})
        self.assertEqual(vault.places(), {value: place})
        self.assertEqual(list(findings(vault)), [])
        for change, found in (("UPDATE head SET data = x'00'", "head/damaged"), ("DELETE FROM head", "head/damaged"),
                              ("UPDATE place SET value = x'0000000000000000000000000000000000'", "place/damaged")):
            vault.db.execute("BEGIN")
            vault.db.execute(change)
            self.assertEqual([f.code for f in findings(vault)], [found])
            vault.db.execute("ROLLBACK")
        vault.db.execute("DELETE FROM part WHERE id = 4")
        vault.close()
        with self.assertRaises(Refused) as refused:
            TakenVault.open(self.path, b"p")
        self.assertEqual(refused.exception.code, "root/header-digest")
        self.vault = Vault.create(self.path + "2", b"p")

    def test_a_device_id_put_back_is_another_root(self):
        before = self.vault.fingerprint()
        self.vault.root = replace(self.vault.root, counter=5)
        self.assertNotEqual(self.vault.fingerprint(), before)


if __name__ == "__main__":
    unittest.main()
