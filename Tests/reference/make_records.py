#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes Fixtures/vectors/records/format-2.txt: records of format 2, good ones and each rule broken once.

A line is `good KIND HEX` or `bad KIND HEX # what is wrong`. What is bad was held against this reader before it
was written; Swift's reads the same file.
"""

import copy
from pathlib import Path

import kura_second
import kura_shared
from kura_format import Damaged, Ring, Source, u16, u32, u64
from kura_second import (Ledger, Lineage, Trail, devices_bytes, journal_bytes, parts_bytes,
                         purge_bytes, ring_bytes, root_bytes)

RECORDS = kura_second.RECORDS | kura_shared.RECORDS
TARGET = Path(__file__).resolve().parents[2] / "Fixtures/vectors/records/format-2.txt"


class Maker:
    def __init__(self):
        self.source, self.lines = Source("records"), []

    def good(self, kind, data):
        assert RECORDS[kind](data) == data, kind
        self.lines.append(f"good {kind} {data.hex()}")

    def bad(self, kind, data, what):
        try:
            RECORDS[kind](data)
        except Damaged:
            self.lines.append(f"bad {kind} {data.hex()} # {what}")
            return
        raise AssertionError(f"{kind} is taken: {what}")

    def bent(self, kind, sample, encode, bends):
        """One bad record for each bend of a good one, and a good one cut and lengthened."""
        whole = encode(sample)
        self.good(kind, whole)
        for what, bend in bends.items():
            other = copy.deepcopy(sample)
            other = bend(other) or other
            self.bad(kind, encode(other), what)
        self.bad(kind, whole[:-1], "cut")
        self.bad(kind, whole + b"\0", "longer")

    def id(self):
        return self.source.bytes(16)

    def lineage(self, devices=2, depth=4, mark=None):
        vector = sorted((self.id(), 5 + n) for n in range(devices))
        return Lineage(mark or self.id(), depth, vector, devices - 1)


def metas(make):
    lineage = make.lineage(3, 9)
    stamps = sorted((((n % 3, 1 + n, 1 + n // 2, make.id())) for n in range(4)),
                    key=lambda s: (s[2], s[3]))
    sample = Trail(1_760_000_000_000, 1_760_000_001_000, 12, "web/caf\u00e9".encode(),
                   [(b"tag", b"a"), (b"url", b"https://example.org")], [(b"pin", 4), (b"user", 0)],
                   lineage, stamps, [[2, 0, 1], [1], [0], [3], [4], [0]], [(b"old", [0, 1, 3])],
                   [1, 7])

    def setter(path, value):
        def bend(trail):
            *front, last = path
            for step in front:
                trail = getattr(trail, step) if isinstance(step, str) else trail[step]
            if isinstance(last, str):
                setattr(trail, last, value)
            else:
                trail[last] = value
        return bend

    plain = Trail(1, 2, 3, b"a", [], [], make.lineage(1, 1), [], [[0], [0]], [])
    make.good("meta", plain.encode())
    make.good("meta", Trail(1, 2, 0, b"", [], [], make.lineage(2), [], [[], []], []).encode())
    make.good("meta", Trail(1, 2, 0, b"a", [], [], make.lineage(2), [], [[], [0]], []).encode())
    one = sample.lineage.vector[0]
    make.bent("meta", sample, Trail.encode, {
        "no name": setter(["name"], b""), "name": setter(["name"], b"a//b"),
        "size": setter(["size"], (1 << 40) + 1),
        "secret keys descend": setter(["secrets"], [(b"user", 0), (b"pin", 4)]),
        "a secret key that is public": setter(["secrets", 0], (b"tag", 4)),
        "a deleted key that is secret": setter(["deleted", 0], (b"pin", [0])),
        "a deleted key that is public": setter(["deleted", 0], (b"url", [0])),
        "a secret attribute too long": setter(["secrets", 0], (b"pin", 65537)),
        "a key with =": setter(["deleted", 0], (b"a=b", [0])),
        "depth 0": setter(["lineage", "depth"], 0),
        "depth too great": setter(["lineage", "depth"], (1 << 40) + 1),
        "own entry": setter(["lineage", "own"], 3),
        "a device twice": setter(["lineage", "vector", 1], one),
        "counter 0": setter(["lineage", "vector", 0], (one[0], 0)),
        "a counter with a sign": setter(["lineage", "vector", 0], (one[0], 1 << 63)),
        "a stamp as deep as the row": setter(["stamps", 3], (0, 1, 9, make.id())),
        "a stamp's device": setter(["stamps", 0], (3, 1, 1, bytes(16))),
        "a stamp that is not known": setter(["stamps", 0], (0, 9, 1, bytes(16))),
        "a stamp's counter": setter(["stamps", 0], (0, 0, 1, bytes(16))),
        "a stamp's depth": setter(["stamps", 0], (0, 1, 0, bytes(16))),
        "a stamp that is the row's": setter(["stamps", 3], (0, 1, 8, lineage.id)),
        "stamps descend": setter(["stamps", 0], (0, 1, 8, bytes(16))),
        "a stamp of nothing": setter(["fields", 4], [0]),
        "no such stamp": setter(["fields", 0], [5]),
        "contents descend": setter(["fields", 0], [2, 1, 0]),
        "a content twice": setter(["fields", 0], [2, 0, 1, 2]),
        "a name set by nobody": setter(["fields", 1], []),
        "a secret attribute set by nobody": setter(["fields", 5], []),
        "sides descend": setter(["sides"], [7, 1]), "side 0": setter(["sides"], [0, 1]),
        "256 sides": setter(["sides"], list(range(1, 257))),
    })


def bodies(make):
    plain = (b"\0value", [(b"pin", b"1234"), (b"user", "m\u00f6".encode())])
    sealed = [(key, make.id(), make.source.bytes(32), make.source.bytes(74 + len(key) + 3))
              for key in (b"pin", b"user")]

    def parts(sample):
        return parts_bytes(*sample)

    make.good("body", b"\0")
    make.bent("body", plain, parts, {
        "no value": lambda s: (b"", s[1]), "form 6 inside": lambda s: (b"\x06", s[1]),
        "form 7 inside": lambda s: (b"\x07", s[1]),
        "keys descend": lambda s: (s[0], s[1][::-1]),
        "a key twice": lambda s: (s[0], [s[1][0], s[1][0]]),
        "a key with =": lambda s: (s[0], [(b"a=", b"")]),
        "a value with NUL": lambda s: (s[0], [(b"a", b"\0")]),
        "a value that is no UTF-8": lambda s: (s[0], [(b"a", b"\xff")]),
    })
    make.bad("body", b"\x06" + u32(1) + b"\0" + u16(0), "no secret attribute")
    make.bad("body", b"\x06" + u32(0xffffffff) + b"\0" * 40, "an inner length that is not there")
    make.bad("body", b"", "no form")
    make.bad("protected", parts(plain), "not sealed")
    body = b"\x04" + make.source.bytes(16 + 32 + 72 + 4)
    make.bent("protected", (body, sealed), parts, {
        "keys descend": lambda s: (s[0], s[1][::-1]),
        "a seal too short": lambda s: (s[0], [(b"pin", *sealed[0][1:3], bytes(76))]),
    })


def purges(make):
    lineages = sorted((make.lineage() for _ in range(2)), key=lambda lineage: lineage.id)
    sample = (make.lineage(3).vector, [(0, lineages[0]), (1, lineages[1])])
    make.good("purge", purge_bytes(sample[0], []))
    make.bent("purge", sample, lambda s: purge_bytes(*s), {
        "nothing purged": lambda s: ([], s[1]), "class": lambda s: (s[0], [(2, lineages[0])]),
        "sides descend": lambda s: (s[0], s[1][::-1]),
    })
    make.good("purge", purge_bytes(sample[0], [(0, make.lineage(1, 1, bytes([n]) * 16)) for n in range(255)]))


def copies(make):
    ring = Ring([(1, 1, 5, make.source.bytes(32))], make.source.bytes(32), policy={1: 60000})
    fresh = Ledger(make.id(), bytes(16), [], [], [], [])
    make.good("ring", ring_bytes(ring, fresh))
    low, high = sorted((make.lineage() for _ in range(2)), key=lambda lineage: lineage.id)
    slots = sorted((make.id(), kind, make.id(), kind) for kind in (1, 2, 3))
    halves = sorted((make.source.bytes(32), make.source.bytes(32), make.source.bytes(104))
                    for _ in range(2))
    full = Ledger(make.id(), make.id(), [(low, slots), (high, slots[:1])],
                  [(1, [(low, 5), (high, 6)]), (200, [(low, 7)])],
                  [(make.source.bytes(48), b"key", b"")], halves)
    ring.notes = [(make.id(), 5, 1, b"desk", b"/stick")]
    make.bent("ring", full, lambda ledger: ring_bytes(ring, ledger), {
        "sides descend": lambda l: setattr(l, "slots", l.slots[::-1]),
        "no slots": lambda l: setattr(l, "slots", [(low, [])]),
        "slots descend": lambda l: setattr(l, "slots", [(low, slots[::-1])]),
        "a kind that stays": lambda l: setattr(l, "slots", [(low, [(*slots[0][:1], 4, low.id, 1)])]),
        "a slot's counter": lambda l: setattr(l, "slots", [(low, [(*slots[0][:1], 1, low.id, 0)])]),
        "settings descend": lambda l: setattr(l, "settings", l.settings[::-1]),
        "a setting without a side": lambda l: setattr(l, "settings", [(1, [])]),
        "sides of a setting descend":
            lambda l: setattr(l, "settings", [(1, [(high, 6), (low, 5)])]),
        "a waiting slot's header": lambda l: setattr(l, "waiting", [(bytes(47), b"", b"")]),
        "halves descend": lambda l: setattr(l, "halves", halves[::-1]),
        "17 halves": lambda l: setattr(l, "halves", [(bytes([n]) * 32, *halves[0][1:])
                                                     for n in range(17)]),
    })
    for layout in (1, 2, 4):
        make.bad("ring", bytes([layout]) + ring_bytes(ring, fresh)[1:], f"layout {layout}")
    others(make)


def others(make):
    shared(make)
    records = [(n, make.id(), make.id()) for n in (1, 5, 9)]
    make.bent("journal", records, journal_bytes, {
        "none": lambda r: r.clear(), "descend": lambda r: r.reverse(),
        "counter 0": lambda r: r.__setitem__(0, (0, *records[0][1:])),
        "a counter with a sign": lambda r: r.__setitem__(2, (1 << 63, *records[0][1:])),
        "65": lambda r: r.__setitem__(slice(0, 3), [(n + 1, *records[0][1:]) for n in range(65)]),
    })
    root = {"front": (5, 4, 3, 2), "digests": make.source.bytes(96), "device": make.id(),
            "counter": 77, "tail": (make.id(), 15), "head": make.source.bytes(32), "count": 9}
    make.bent("root", root, root_bytes, {
        "epoch": lambda r: r.update(front=(0, 4, 3, 2)),
        "no device": lambda r: r.update(device=bytes(16)),
        "a counter with a sign": lambda r: r.update(counter=1 << 63),
        "records without a head": lambda r: r.update(head=bytes(32)),
        "a head without records": lambda r: r.update(count=0),
    })
    make.bad("root", root_bytes(root)[:152] + b"\1" + root_bytes(root)[153:], "reserved")


def shared(make):
    device = (make.id(), 3, 5, make.id(), (6, make.id()), (5, make.id()), 7, 8, make.id(), make.source.bytes(32), b"desk")
    unknown = (b"\xff" * 16, 0, 0, bytes(16), (0, bytes(16)), (0, bytes(16)), 0, 0, bytes(16), bytes(32), b"")

    def put(at, value):
        return lambda devices: devices.__setitem__(0, (*device[:at], value, *device[at + 1:]))

    make.bent("devices", [device, unknown], devices_bytes, {
        "none": lambda d: d.clear(), "descend": lambda d: d.reverse(), "flags": put(1, 7),
        "a key that is not known": put(1, 2), "a device that was not removed": put(1, 1),
        "a head without a number": put(4, (0, device[0])), "a number without a head": put(5, (4, bytes(16))),
        "a counter with a sign": put(6, 1 << 63), "a removed counter with a sign": put(7, 1 << 63),
        "label": put(10, b"a\x07"),
    })
    low, high = sorted((make.id(), make.id()))
    standing = kura_shared.Standing((3, make.id()), 2, [low, high], [(low, [(1, 4), (6, 6)]), (high, [(9, 12)])])
    was = (low, high, 6, 8, (3, make.id()), [(4, make.id()), (7, make.id())])
    memory = kura_shared.Memory(make.id(), 119, b"record", [(low, 5), (high, 6)], [was], standing, [standing])
    fresh = kura_shared.Standing((0, bytes(16)), 0, [], [])
    make.good("remote", kura_shared.memory_bytes(kura_shared.Memory(low, 0, b"", [], [], fresh, [])))

    def stand(**fields):
        return lambda m: m._replace(standing=standing._replace(**fields))

    make.bent("remote", memory, kura_shared.memory_bytes, {
        "no device": lambda m: m._replace(device=bytes(16)), "flags": lambda m: m._replace(flags=128),
        "devices descend": lambda m: m._replace(covered=memory.covered[::-1]),
        "a device that was another twice": lambda m: m._replace(was=[was, was]),
        "void heads descend": lambda m: m._replace(was=[(*was[:5], was[5][::-1])]),
        "two that are being written": lambda m: m._replace(pending=[standing, standing]),
        "none that is being written": lambda m: m._replace(pending=[fresh]),
        "slots descend": stand(slots=[high, low]), "65 slots": stand(slots=[bytes([n]) * 16 for n in range(65)]),
        "runs touch": stand(vouched=[(low, [(1, 4), (5, 6)])]), "runs descend": stand(vouched=[(low, [(6, 6), (1, 4)])]),
        "counter 0": stand(vouched=[(low, [(0, 4)])]), "a run that ends before it begins": stand(vouched=[(low, [(4, 1)])]),
        "no run": stand(vouched=[(low, [])]), "runs of devices descend": stand(vouched=standing.vouched[::-1]),
    })
    make.bad("remote", b"\2" + kura_shared.memory_bytes(memory)[1:], "layout 2")
    beside = [(epoch, record, bytes([len(record)]) * 104) for epoch, record in ((low, b"one"), (high, b"another"))]
    several = memory._replace(flags=127, beside=beside)
    make.good("remote", kura_shared.memory_bytes(memory._replace(flags=8, beside=beside[:1])))
    make.bent("remote", several, kura_shared.memory_bytes, {
        "epochs beside descend": lambda m: m._replace(beside=beside[::-1]),
        "one epoch beside twice": lambda m: m._replace(beside=[beside[0], beside[0]]),
        "8 epochs beside": lambda m: m._replace(beside=[(bytes([n]) * 16, *beside[0][1:]) for n in range(8)]),
        "epochs beside without the flag": lambda m: m._replace(flags=23),
        "the flag without epochs beside": lambda m: m._replace(beside=()),
    })
    make.bad("remote", kura_shared.memory_bytes(several._replace(beside=())) + b"\0", "no epoch beside")
    pieces = [(make.source.bytes(32), 1_000), (make.source.bytes(32), 900)]
    make.bent("place", (17, make.id(), pieces), kura_shared.value_place_bytes, {
        "no chunk": lambda p: (0, *p[1:]), "more pieces than chunks": lambda p: (1, *p[1:]),
        "more chunks than a value has": lambda p: ((1 << 24) + 1, *p[1:]), "no piece": lambda p: (*p[:2], []),
        "a piece too long": lambda p: (*p[:2], [(pieces[0][0], 1_114_113)]),
    })


def text():
    make = Maker()
    for part in (metas, bodies, purges, copies):
        part(make)
    return "\n".join(make.lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
