#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The reference's own tests of what stands in a store: what opens where, and nowhere else."""
import unittest

import kura_remote as R
import make_remote
import make_records
from kura_format import Damaged, Source, WrongKey, pad, seal, unpad, unseal

VAULT, DEVICE, EPOCH = (bytes([n]) * 16 for n in (1, 2, 3))
KEY, SEED = make_remote.VAULT_KEY, make_remote.SEED


class Heads(unittest.TestCase):
    def setUp(self):
        self.inner = make_remote.sample_inner(make_records.Maker())
        self.front = R.Front(VAULT, DEVICE, b"", 1, EPOCH, bytes(32), bytes(32), [], [], [], b"", b"")
        self.data = R.head_bytes(self.front, self.inner, [], SEED, KEY, Source("head"))

    def test_a_head_says_what_was_put_into_it(self):
        front = R.read_front(self.data)
        self.assertEqual((front.number, front.key), (1, R.public_half(SEED)))
        self.assertEqual(R.open_head(front, KEY), self.inner)

    def test_a_head_opens_under_its_key_and_in_its_place_alone(self):
        front = R.read_front(self.data)
        for other, key in ((front, SEED), (front._replace(vault=EPOCH), KEY), (front._replace(device=EPOCH), KEY),
                           (front._replace(epoch=VAULT), KEY), (front._replace(sealed=front.own), KEY)):
            with self.assertRaises(WrongKey):
                R.open_head(other, key)

    def test_what_a_device_says_to_itself_opens_with_its_seed(self):
        ids = [bytes([n]) * 16 for n in range(3)]
        front = R.read_front(R.head_bytes(self.front, self.inner, ids, SEED, KEY, Source("own")))
        own = R.own_key(SEED, VAULT, DEVICE)
        self.assertEqual(unpad(unseal(own, R.journal_place(VAULT, DEVICE, 0), front.own)), b"".join(ids))
        with self.assertRaises(WrongKey):
            unseal(own, R.journal_place(VAULT, DEVICE, R.BLOCK), front.own)

    def test_no_byte_of_a_head_can_be_changed(self):
        for at in range(len(self.data)):
            with self.assertRaises(Damaged):
                R.read_front(self.data[:at] + bytes([self.data[at] ^ 0x40]) + self.data[at + 1:])


class Objects(unittest.TestCase):
    def test_an_object_is_what_its_name_says(self):
        data = R.object_bytes(R.PACK, EPOCH, b"body")
        self.assertEqual(R.object_body(data, R.name_of(data), R.PACK, EPOCH), b"body")
        for name, kind, epoch in ((bytes(32), R.PACK, EPOCH), (R.name_of(data), R.PIECE, EPOCH),
                                  (R.name_of(data), R.PACK, VAULT)):
            with self.assertRaises(Damaged):
                R.object_body(data, name, kind, epoch)

    def test_names_are_below_the_vault_and_the_device(self):
        self.assertEqual(R.head_path(VAULT, DEVICE), f"kura-{'01' * 16}/heads/{'02' * 16}")
        self.assertEqual(R.object_path(VAULT, DEVICE, bytes([0xAB] * 32)),
                         f"kura-{'01' * 16}/objects/{'02' * 16}/ab/{'ab' * 32}")

    def test_a_piece_opens_in_its_place_alone(self):
        key, place = R.remote_key(KEY, VAULT), R.piece_place(VAULT, DEVICE, EPOCH, bytes(16), 16)
        sealed = seal(key, place, pad(b"chunks"), bytes(24))
        self.assertEqual(unpad(unseal(key, place, sealed)), b"chunks")
        with self.assertRaises(WrongKey):
            unseal(key, R.piece_place(VAULT, DEVICE, EPOCH, bytes(16), 0), sealed)


class Epochs(unittest.TestCase):
    def test_who_had_a_parents_key_is_proved_by_it_alone(self):
        keys = [bytes([n]) * 32 for n in (1, 2)]
        epoch = R.Epoch(VAULT, DEVICE, b"", [EPOCH, b"\4" * 16], [EPOCH, b"\4" * 16], b"", [])
        read = R.read_epoch(R.make_epoch(b"\5" * 16, epoch, ([], [], 1, False), SEED, KEY, keys, bytes(24)))
        self.assertTrue(R.is_proved(read, EPOCH, keys[0]) and R.is_proved(read, b"\4" * 16, keys[1]))
        self.assertFalse(R.is_proved(read, EPOCH, keys[1]) or R.is_proved(read, VAULT, keys[0]))

    def test_a_twin_comes_to_the_same_id_wherever_it_is_found(self):
        id, seed = R.twin(DEVICE, EPOCH, SEED)
        self.assertEqual((id, seed), R.twin(DEVICE, EPOCH, SEED))
        self.assertEqual((len(id), len(seed)), (16, 32))
        self.assertEqual(len({id, R.twin(DEVICE, VAULT, SEED)[0], R.twin(VAULT, EPOCH, SEED)[0], DEVICE}), 4)


class Vectors(unittest.TestCase):
    def test_the_vectors_are_those_that_are_written(self):
        self.assertEqual(make_remote.TARGET.read_text(), make_remote.text())


if __name__ == "__main__":
    unittest.main()
