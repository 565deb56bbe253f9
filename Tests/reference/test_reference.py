#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the reference says of itself: run `python3 -m unittest` here."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import kura_format as fmt
import make_example
import make_records
from kura_format import Damaged, Refused, Source, WrongKey
from kura_record import Row
from kura_second import old_revision
from kura_vault import Vault
from kura_verify import findings
from vector_file import VectorFile, pattern

VECTORS = Path(__file__).resolve().parents[2] / "Fixtures/vectors/vault"


class Encodings(unittest.TestCase):
    def test_a_seal_opens_under_its_key_and_data_only(self):
        key, nonce = bytes(range(32)), bytes(24)
        sealed = fmt.seal(key, b"ad", b"message", nonce)
        self.assertEqual(len(sealed), 7 + fmt.SEAL_OVERHEAD)
        self.assertEqual(fmt.unseal(key, b"ad", sealed), b"message")
        for other in ((bytes(32), b"ad"), (key, b"da")):
            self.assertRaises(WrongKey, fmt.unseal, *other, sealed)
        self.assertRaises(Damaged, fmt.unseal, key, b"ad", sealed[:-1] + b"\0")
        self.assertRaises(Damaged, fmt.unseal, key, b"ad", sealed[:71])

    def test_a_slot_of_a_tpm_has_the_keys_that_it_has_in_the_engine(self):
        """The numbers are those of Tests/KuraFormatTests/ChipCodeTests.swift."""
        def number(n):
            return bytes([n]) * 16
        vault_id, kept = number(2), b"\4" * 32
        parts = (b"\1\2", b"\3", b"\4\5\6")
        front = fmt.SlotHeader(5, 1, 1, 8192, number(1), number(3))
        derived = fmt.tpm_derived(b"4711", front)
        self.assertEqual(
            fmt.tpm_auth(derived, vault_id, number(3)).hex(),
            "000e4516b0c09808e3f33de208ef03ed92c19129f2fc277b279aab6ff25ecfeb")
        secret = fmt.tpm_secret(kept, derived, front, vault_id)
        self.assertEqual(
            fmt.slot_keys(secret, vault_id, fmt.tpm_header(front, *parts))[0].hex(),
            "f456de087b7f9e362632aa1e43ef592d38b3ba7e3124a879965f8bf6cf8e67e5")
        bare = fmt.SlotHeader(5, 0, 0, 0, number(1), number(3))
        secret = fmt.tpm_secret(kept, None, bare, vault_id)
        self.assertEqual(
            fmt.slot_keys(secret, vault_id, fmt.tpm_header(bare, *parts))[0].hex(),
            "54197b6dd277500d38f3dd1b1a34589faa1adc0ca78020f47ff64100e73d6d85")

    def test_the_examples_of_the_format_come_out(self):
        vault_id = bytes(range(0xa0, 0xb0))
        keys = fmt.Keys(bytes(range(32)), vault_id)
        sealed = fmt.seal(keys.ring, b"\x03" + vault_id, b"kura", bytes(range(0x40, 0x58)))
        self.assertEqual(sealed[24:].hex(), (
            "ce762232b22bf2e414f158fbf6b49d231dd032178e3b0400ba168876ba97b798"
            "54cde550b1dafd97cfb0b1a28669123aba655262"))
        tag = fmt.keyed_hash(keys.name, 16, b"com.example.juice/userIdentifier")
        self.assertEqual(tag.hex(), "71cceca311b2abb26c745a0acf81543b")
        self.assertEqual(fmt.recovery_text(bytes(range(20))),
                         "000G-40R4-0M30-E209-185G-R38E-1W81-24GK-XS3D")

    def test_padding_has_one_form(self):
        steps = {1: 256, 256: 256, 257: 512, 4096: 4096, 4097: 4352, 65538: 67584, 9 << 20: 9 << 20}
        self.assertEqual({n: fmt.padded_count(n) for n in steps}, steps)
        for count in (0, 255, 256, 4095, 4096, 70000):
            self.assertEqual(fmt.unpad(fmt.pad(b"\x80" * count)), b"\x80" * count)
        self.assertRaises(Damaged, fmt.unpad, fmt.pad(b"") + bytes(256))
        self.assertRaises(Damaged, fmt.unpad, bytes(256))

    def test_a_recovery_key_names_the_group_of_a_typo(self):
        key = bytes(range(20))
        text = fmt.recovery_text(key)
        self.assertEqual(fmt.recovery_key(text.lower().replace("-", " ")), key)
        plain = text.replace("-", "")
        for at in range(36):
            wrong = plain[:at] + ("A" if plain[at] != "A" else "B") + plain[at + 1:]
            with self.assertRaises(Refused) as refused:
                fmt.recovery_key(wrong)
            self.assertEqual(refused.exception.where, f"group {at // 4 + 1}")

    def test_names_and_passcodes_have_one_form(self):
        self.assertEqual(fmt.normal_name("A\u030a".encode()), "\u00c5".encode())
        self.assertEqual(fmt.normal_name("\u212b".encode()), "\u00c5".encode())
        self.assertEqual(fmt.prepared_passcode("a\u3000A\u030a".encode()), "a \u00c5".encode())
        for name in (b"", b"/", b"a/", b"a/../b", b"a\tb", b"\xff", b"n" * 1025):
            self.assertRaises(Refused, fmt.normal_name, name)
        for passcode in (b"", b"a\0", b"\xff", b"p" * 1025):
            self.assertRaises(Refused, fmt.prepared_passcode, passcode)


    def test_the_whole_vault_of_the_format_is_the_vector(self):
        manual = (VECTORS.parents[2] / "man/kura-format.5").read_text()
        for text in make_example.page():
            self.assertIn(f".Bd -literal\n{text}\n.Ed\n", manual)


class Vaults(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = self.directory.name + "/v.kura"

    def test_what_was_put_is_read_after_reopening(self):
        vault = Vault.create(self.path, b"p", source=Source("seed"), page_size=512)
        expected = {}
        for n in range(200):
            expected[b"name/%d" % (n % 50)] = pattern(n * 7)
            vault.put(b"name/%d" % (n % 50), pattern(n * 7), {b"n": b"%d" % n})
        vault.put(b"large", pattern(200_000))
        expected[b"large"] = pattern(200_000)
        vault.remove(b"name/0")
        del expected[b"name/0"]
        vault.close()
        vault = Vault.open(self.path, b"p")
        self.assertEqual({m.name: vault.value(r) for r, m in vault.list() if not r.kind}, expected)
        self.assertEqual(list(findings(vault)), [])
        self.assertEqual(vault.get(b"name/1", revision=1)[1], pattern(7))
        self.assertRaises(Refused, vault.get, b"name/0")
        vault.close()

    def test_a_tree_grows_a_level_beyond_4096_items(self):
        vault = Vault.create(self.path, b"p", source=Source("grow"))
        with vault.change():
            leaves = {}
            for n in range(4096):
                row = Row(vault.source.bytes(16), vault.source.bytes(16), 1, 1, 0, 0, b"",
                          bytes(72), bytes(72))
                vault.file.store_item(row)
                leaves[row.tag] = row.leaf(vault.keys.tree)
            vault.store_root(items=4096, tree_root=vault.tree.rebuild(1, leaves))
        vault.put(b"one more", b"v")
        self.assertEqual(vault.root.depth, 2)
        self.assertEqual(vault.get(b"one more")[1], b"v")
        for tag, leaf in leaves.items():
            self.assertEqual(vault.tree.verified_leaf(vault.root, tag), leaf)
        vault.close()


class Vectors(unittest.TestCase):
    def outcome(self, name):
        with tempfile.TemporaryDirectory() as scratch:
            return VectorFile(VECTORS / (name + ".sql")).outcome(scratch + "/v.kura")

    def test_every_vector_comes_out_as_it_says(self):
        names = sorted(path.stem for path in VECTORS.glob("*.sql"))
        self.assertGreaterEqual(len(names), 250)
        for name in names:
            with self.subTest(name):
                first, _, other = self.outcome(name)
                self.assertEqual((first, other), (VectorFile(VECTORS / (name + ".sql")).expect, []))

    def test_the_vectors_catch_a_reader_that_skips_a_check(self):
        expected = self.outcome("row-rolled-back")[0]
        with mock.patch.object(Vault, "checked_row", lambda self, row, *_: row):
            self.assertNotEqual(self.outcome("row-rolled-back")[0], expected)
        with mock.patch.object(fmt, "keyed_hash", lambda key, count, *_: bytes(count)):
            self.assertNotEqual(self.outcome("good-three-items")[0], "ok")


class Records(unittest.TestCase):
    def test_the_records_of_format_2_are_those_that_are_frozen(self):
        self.assertEqual(make_records.text(), make_records.TARGET.read_text())

    def test_a_revision_of_format_1_has_one_name(self):
        first = old_revision(bytes(16), 5, 0, 0, b"meta")
        self.assertEqual(first, old_revision(bytes(16), 5, 0, 0, b"meta"))
        next_one = old_revision(bytes(16), 6, 0, 0, b"meta")
        self.assertTrue(next_one.follows(first))
        self.assertFalse(first.follows(next_one) or first.follows(first))
        for other in ((bytes(16), 5, 1, 0, b"meta"), (bytes(16), 5, 0, 0, b"beta")):
            self.assertNotEqual(old_revision(*other).id, first.id)
            self.assertEqual(old_revision(*other).entry, first.entry)


if __name__ == "__main__":
    unittest.main()
