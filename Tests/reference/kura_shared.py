# SPDX-License-Identifier: MIT
"""What a shared vault remembers of its store: part 4, and where long values stand."""
from typing import NamedTuple

from kura_format import Reader, u8, u16, u32, u64
from kura_remote import LIMITS, PIECE, RECORD, entry_bytes, listed, many, read_entry, read_was, was_bytes
from kura_second import TOP, at_bytes, need, read_at

MOST = 851_968
MOST_PIECES = 24_576


class Standing(NamedTuple):
    at: tuple               # (number, head id)
    base: int
    slots: list
    vouched: list           # (device, [(first, last)])


class Memory(NamedTuple):
    device: bytes
    flags: int
    record: bytes
    covered: list
    was: list
    standing: Standing
    pending: list           # none, or one
    beside: list = ()       # (epoch id, record, sealed proof key)


def read_runs(reader):
    runs = many(reader.u16(), lambda: (reader.u64(), reader.u64()))
    need(runs and all(1 <= first <= last <= TOP for first, last in runs)
         and all(a[1] + 1 < b[0] for a, b in zip(runs, runs[1:])), "runs")
    return runs


def read_standing(reader):
    at, base = read_at(reader), reader.u16()
    slots = many(reader.u8(), lambda: reader.take(16), "slots")
    vouched = many(reader.u16(), lambda: (reader.take(16), read_runs(reader)), "devices", lambda x: x[0])
    need(len(slots) <= 64 and len(vouched) <= 256, "too many")
    return Standing(at, base, slots, vouched)


def standing_bytes(standing):
    return at_bytes(standing.at) + u16(standing.base) + listed(standing.slots, bytes, u8) + listed(
        standing.vouched, lambda x: x[0] + listed(x[1], lambda run: u64(run[0]) + u64(run[1])))


def read_memory(data):
    need(len(data) <= MOST, "too long")
    reader = Reader(data)
    need(reader.u8() == 1, "layout")
    device, flags, record = reader.take(16), reader.u8(), reader.take(reader.u32())
    covered = many(reader.u16(), lambda: read_entry(reader), "devices", lambda x: x[0])
    was = many(reader.u16(), lambda: read_was(reader), "devices", lambda x: x[0])
    standing = read_standing(reader)
    pending = many(reader.u8(), lambda: read_standing(reader))
    beside = many(reader.u8(), lambda: (reader.take(16), reader.take(reader.u32()), reader.take(104)), "epochs",
                  lambda x: x[0]) if flags & 8 else ()
    reader.end()
    need(len(beside) <= 7 and bool(flags & 8) == bool(beside) and all(len(x[1]) <= LIMITS[RECORD] for x in beside),
         "epochs beside")
    need(any(device) and flags < 128 and len(record) <= LIMITS[RECORD], "memory")
    need(len(covered) <= 512 and len(was) <= 64, "too many")
    need(len(pending) <= 1 and all(found.at[0] for found in pending), "pending")
    return Memory(device, flags, record, covered, was, standing, pending, beside)


def memory_bytes(memory):
    return (u8(1) + memory.device + u8(memory.flags) + u32(len(memory.record)) + memory.record
            + listed(memory.covered, entry_bytes) + listed(memory.was, was_bytes)
            + standing_bytes(memory.standing) + listed(memory.pending, standing_bytes, u8)
            + (listed(memory.beside, lambda x: x[0] + u32(len(x[1])) + x[1] + x[2], u8) if memory.beside else b""))


def read_value_place(data):
    """(how many chunks, device, [(hash, length)])"""
    reader = Reader(data)
    chunks, device = reader.u64(), reader.take(16)
    pieces = many(reader.u16(), lambda: (reader.take(32), reader.u32()))
    reader.end()
    need(1 <= len(pieces) <= min(chunks, MOST_PIECES) and chunks <= 1 << 24
         and all(length <= LIMITS[PIECE] for _, length in pieces), "pieces")
    return chunks, device, pieces


def value_place_bytes(place):
    chunks, device, pieces = place
    return u64(chunks) + device + listed(pieces, lambda piece: piece[0] + u32(piece[1]))


RECORDS = {
    "remote": lambda data: memory_bytes(read_memory(data)),
    "place": lambda data: value_place_bytes(read_value_place(data)),
}
