# SPDX-License-Identifier: MIT
"""The access log of a machine, read as kura-format(5) says."""

import struct
from dataclasses import dataclass

from nacl import bindings as sodium

from kura_format import ZERO32, Damaged, Reader, WrongKey, keyed_hash, u16, unpad, unseal

HEAD_LENGTH = 176
FRAME_HEAD = 11
LONGEST_RECORD = 262_144
MOST_ENTRIES = 64
ENTRIES, LOCKED = 1, 2


@dataclass
class Entry:
    number: int
    while_locked: bool
    time: int
    verb: int
    code: int
    detail: int
    process: int
    parent: int
    name: bytes
    other: bytes
    program: bytes
    parent_program: bytes
    terminal: bytes


def check(data):
    """FNV-1a, 32 bits."""
    total = 0x811C9DC5
    for byte in data:
        total = (total ^ byte) * 0x01000193 & 0xFFFFFFFF
    return total


def frame_head(data):
    """(length, kind, count), or None when these bytes are no head of a frame."""
    if len(data) < FRAME_HEAD:
        return None
    length, kind, count, told = struct.unpack("<IBHI", data[:FRAME_HEAD])
    if told != check(data[:7]) or length > LONGEST_RECORD or kind not in (ENTRIES, LOCKED):
        return None
    if not 1 <= count <= MOST_ENTRIES or kind == LOCKED and count != 1:
        return None
    return length, kind, count


def read_entries(data, number, while_locked):
    reader, entries = Reader(data), []
    while reader.at < len(data):
        time, verb, code = reader.u64(), reader.u8(), reader.u16()
        detail, process, parent = reader.u64(), reader.u32(), reader.u32()
        name, other = (reader.take(reader.u16()) for _ in range(2))
        program, parent_program, terminal = (reader.take(reader.u8()) for _ in range(3))
        entries.append(Entry(number + len(entries), while_locked, time, verb, code, detail,
                             process, parent, name, other, program, parent_program, terminal))
    return entries


def is_refusal(entry):
    """Whether it is what an engine without a key can have noted: a credential that opened nothing."""
    return entry.code != 0 and entry.verb != 0 and not entry.name and not entry.other


class Log:
    """Entries, how many were dropped before them, and what is wrong."""

    def __init__(self, data, log_key, vault_id, noted=ZERO32):
        # A log that had been switched off has no end that could be missed.
        noted = ZERO32 if noted[:24] == b"\xff" * 24 else noted
        self.key, self.vault_id, self.noted = log_key, vault_id, noted
        self.entries, self.findings = [], []
        secret = keyed_hash(log_key, 32, b"kura1/log-pair", vault_id)
        self.secret, self.public = secret, sodium.crypto_scalarmult_base(secret)
        self.read_head(data[:HEAD_LENGTH])
        self.proven, self.broken, self.unplaced = self.number, False, set()
        self.met = noted in (ZERO32, self.chain)
        self.read_frames(data)
        if not self.met:
            self.findings.append("cut")

    def read_head(self, head):
        if len(head) < HEAD_LENGTH or head[:8] != b"KURALOG1" or head[8:24] != self.vault_id:
            raise Damaged("log head")
        if head[24:56] != self.public:
            raise Damaged("log pair")
        ad = b"\x09" + self.vault_id + self.public
        self.dropped, self.chain, self.time = struct.unpack(
            "<Q32sQ", unseal(self.key, ad, head[56:]))
        self.number = self.dropped + 1

    def read_frames(self, data):
        offset = HEAD_LENGTH
        while offset < len(data):
            head = frame_head(data[offset:offset + FRAME_HEAD])
            rest = data[offset:]
            if head and FRAME_HEAD + head[0] <= len(rest):
                offset += FRAME_HEAD + head[0]
                self.read_frame(rest[:FRAME_HEAD + head[0]], *head[1:])
                continue
            if head or len(rest) < FRAME_HEAD or not any(rest):
                self.findings.append("torn")
                return
            self.findings.append("damaged")
            self.broken = True
            offset = next((at for at in range(offset + 1, len(data)) if self.fits(data, at)),
                          len(data))

    @staticmethod
    def fits(data, at):
        head = frame_head(data[at:at + FRAME_HEAD])
        return head and at + FRAME_HEAD + head[0] <= len(data)

    def read_frame(self, frame, kind, count):
        try:
            chain, number, entries = self.opened(frame[FRAME_HEAD:], kind, count)
            found = read_entries(entries, self.number, kind == LOCKED)
            if len(found) != count or kind == LOCKED and not is_refusal(found[0]):
                raise Damaged("log entries")
        except (WrongKey, Damaged):
            self.findings.append("damaged")
            self.broken = True
            return self.go_on(frame, count)
        if not number:
            if frame in self.unplaced:
                return self.findings.append("misplaced")
            self.unplaced.add(frame)
        elif chain != self.chain:
            if number < self.proven:
                return self.findings.append("misplaced")
            missing = number > self.number
            if missing or not self.broken:
                self.findings.append("missing" if missing else "misplaced")
            self.chain, self.number = chain, number
        self.entries += read_entries(entries, self.number, kind == LOCKED)
        self.go_on(frame, count)
        if number:
            self.proven, self.broken = self.number, False

    def opened(self, record, kind, count):
        """The value and number that a block has in front, and its entries."""
        if kind == LOCKED:
            ephemeral = record[:32]
            shared = sodium.crypto_scalarmult(self.secret, ephemeral)
            key = keyed_hash(shared, 32, b"kura1/log-entry", ephemeral, self.public)
            return ZERO32, 0, unpad(unseal(key, b"\x0b" + self.vault_id, record[32:]))
        block = unpad(unseal(self.key, b"\x0a" + self.vault_id + u16(count), record))
        return block[:32], int.from_bytes(block[32:40], "little"), block[40:]

    def go_on(self, frame, count):
        self.chain = keyed_hash(b"", 32, b"kura1/log-chain", self.chain, frame)
        self.number += count
        self.met = self.met or self.chain == self.noted
