#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The reader of access logs against logs that are written here, and what can be done to them."""

import struct
import unittest

from nacl import bindings as sodium

import kura_format as fmt
from kura_format import Damaged, Source, WrongKey
from kura_log import ENTRIES, LOCKED, Log, check

VAULT = bytes(range(16))
KEY = bytes(range(32, 64))
SECRET = fmt.keyed_hash(KEY, 32, b"kura1/log-pair", VAULT)
PUBLIC = sodium.crypto_scalarmult_base(SECRET)


def entry(name, verb=5, code=0):
    return (struct.pack("<QBHQII", 1_700_000_000_000, verb, code, 0, 7, 6) + fmt.u16(len(name)) + name
            + fmt.u16(0) + b"\x04kura\x02sh\x05pts/3")


def frame(kind, count, record):
    head = struct.pack("<IBH", len(record), kind, count)
    return head + fmt.u32(check(head)) + record


class Writer:
    def __init__(self, dropped=0):
        self.source = Source("log")
        self.chain, self.number = self.source.bytes(32), dropped + 1
        start = fmt.u64(dropped) + self.chain + fmt.u64(1)
        sealed = fmt.seal(KEY, b"\x09" + VAULT + PUBLIC, start, self.source.bytes(24))
        self.head, self.frames = b"KURALOG1" + VAULT + PUBLIC + sealed, []

    def add(self, *names):
        block = self.chain + fmt.u64(self.number) + b"".join(entry(name) for name in names)
        ad = b"\x0a" + VAULT + fmt.u16(len(names))
        self.append(ENTRIES, len(names), fmt.seal(KEY, ad, fmt.pad(block), self.source.bytes(24)))

    def knock(self, plaintext=entry(b"", 3, 32)):
        public, secret = sodium.crypto_box_seed_keypair(self.source.bytes(32))
        shared = sodium.crypto_scalarmult(secret, PUBLIC)
        key = fmt.keyed_hash(shared, 32, b"kura1/log-entry", public, PUBLIC)
        sealed = fmt.seal(key, b"\x0b" + VAULT, fmt.pad(plaintext), self.source.bytes(24))
        self.append(LOCKED, 1, public + sealed)

    def append(self, kind, count, record):
        self.frames.append(frame(kind, count, record))
        self.chain = fmt.keyed_hash(b"", 32, b"kura1/log-chain", self.chain, self.frames[-1])
        self.number += count

    def data(self, frames=None):
        return self.head + b"".join(self.frames if frames is None else frames)


class Logs(unittest.TestCase):
    def setUp(self):
        self.writer = Writer(dropped=9)
        self.writer.add(b"a", b"b")
        self.writer.knock()
        self.writer.add(b"c")

    def read(self, data):
        return Log(data, KEY, VAULT, self.writer.chain)

    def found(self, data):
        try:
            return self.read(data).findings
        except (WrongKey, Damaged):
            return ["head"]

    def test_a_log_is_read_in_order(self):
        log = self.read(self.writer.data())
        self.assertEqual([(e.number, e.name, e.while_locked) for e in log.entries], [
            (10, b"a", False), (11, b"b", False), (12, b"", True), (13, b"c", False)])
        self.assertEqual((log.dropped, log.findings, log.entries[0].terminal), (9, [], b"pts/3"))

    def test_each_changed_byte_and_each_cut_is_found(self):
        data = self.writer.data()
        for at in range(len(data)):
            changed = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1:]
            self.assertTrue(set(self.found(changed)) - {"torn"}, at)
        for at in range(0, len(data), 7):
            self.assertTrue(set(self.found(data[:at])) - {"torn"}, at)

    def test_without_a_key_nothing_but_a_refusal_can_be_made_up(self):
        for made in (entry(b"", 3), entry(b"", 0, 32), entry(b"a", 3, 32), b"", b"junk",
                     entry(b"", 3, 32) * 2):
            self.writer.knock(made)
            log = self.read(self.writer.data())
            self.assertEqual((log.findings, len(log.entries)), (["damaged"], 4))
            self.writer.frames.pop()
            self.setUp()

    def test_frames_out_of_place_are_found(self):
        one, two, three = self.writer.frames
        for frames in ([two, three], [one, three], [one, two], [two, one, three],
                       [one, one, two, three], [one, two, two, three], [one, three, two]):
            self.assertTrue(self.found(self.writer.data(frames)))

    def test_a_write_that_was_cut_off_is_no_more_than_that(self):
        for tail in (b"\x01", bytes(500), self.writer.frames[0][:100]):
            self.assertEqual(self.found(self.writer.data() + tail), ["torn"])


if __name__ == "__main__":
    unittest.main()
