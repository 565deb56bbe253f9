#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes Fixtures/vectors/records/remote-1.txt: what stands in a store, as make_records.py does."""
from pathlib import Path

import kura_remote as R
import make_records
from kura_format import Source, u16, u32

TARGET = Path(__file__).resolve().parents[2] / "Fixtures/vectors/records/remote-1.txt"
RECORDS = {
    "front": lambda data: R.front_bytes(R.read_front(data)) + data[-64:],
    "inner": lambda data: R.inner_bytes(R.read_inner(data)),
    "pack": lambda data: R.pack_bytes(R.read_pack(data)),
    "cut": lambda data: R.cut_bytes(R.read_cut(data)),
    "epoch": lambda data: R.epoch_bytes(R.read_epoch(data)) + b"".join(R.read_epoch(data).proofs) + data[-64:],
}
SEED = bytes(range(32))
VAULT_KEY = bytes(range(32, 64))


def sample_inner(make):
    low, high = sorted(make.id() for _ in range(2))
    hashes = sorted(make.source.bytes(32) for _ in range(3))
    at = 3, make.id()
    was = (low, make.id(), 4, at, [(4, make.id()), (6, make.id())])
    return R.Inner(9, 1_760_000_000_000, make.source.bytes(32), "büro".encode(),
                   [(hashes[2], 5_000, 1), (hashes[0], 6_000, 4)],
                   [(low, at, R.NOTHING, make.source.bytes(32)), (high, (8, make.id()), at, bytes(32))],
                   [(low, 1), (high, 7)], [(hashes[0], 2), (hashes[1], 1)], [(high, hashes[1])], [was])


def fronts(make):
    inner = sample_inner(make)
    front = R.Front(make.id(), make.id(), b"", 3, make.id(), make.source.bytes(32), bytes(32), [], [make.id(), make.id()],
                    [make.source.bytes(32)], b"", b"")

    def encode(front):
        nonces = Source("nonces of a head")
        return R.head_bytes(front, inner, [make_id.to_bytes(16, "big") for make_id in (1, 2)], SEED, VAULT_KEY, nonces)
    make.bent("front", front, encode, {
        "number 0": lambda f: f._replace(number=0), "number 2": lambda f: f._replace(number=2),
        "a head too few": lambda f: f._replace(ids=f.ids[:1]),
        "a chain that is not counted": lambda f: f._replace(chains=[bytes(32)]),
        "1,024 ids": lambda f: f._replace(ids=[bytes(16)] * 1_024, number=1_025),
    })
    whole = encode(front)
    for at in (0, 8, 10, 12, 28, 44, len(whole) - 200, len(whole) - 1):
        make.bad("front", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], f"byte {at}")


def inners(make):
    sample = sample_inner(make)
    make.good("inner", R.inner_bytes(R.Inner(0, 0, bytes(32), b"", [], [], [], [], [], [])))
    bends = {name + " descend": lambda i, name=name: i._replace(**{name: getattr(i, name)[::-1]})
             for name in ("packs", "seen", "covered", "condemned")}
    device, former, fork, common, void = sample.was[0]
    make.bent("inner", sample, R.inner_bytes, bends | {
        "label": lambda i: i._replace(label=b"a\x07"), "a long label": lambda i: i._replace(label=b"a" * 65),
        "a pack too long": lambda i: i._replace(packs=[(bytes(32), R.LIMITS[R.PACK] + 1, 1)]),
        "a pack of head 0": lambda i: i._replace(packs=[(bytes(32), 1, 0)]),
        "covered 0": lambda i: i._replace(covered=[(device, 0)]),
        "condemned by head 0": lambda i: i._replace(condemned=[(bytes(32), 0)]),
        "a head without an id": lambda i: i._replace(seen=[(device, (1, bytes(16)), R.NOTHING, bytes(32))]),
        "an id without a head": lambda i: i._replace(seen=[(device, R.NOTHING, (0, device), bytes(32))]),
        "a count with a sign": lambda i: i._replace(count=1 << 63),
        "void heads descend": lambda i: i._replace(was=[(device, former, fork, common, void[::-1])]),
        "a void head that both have": lambda i: i._replace(was=[(device, former, fork, common, [common])]),
        "257 devices": lambda i: i._replace(covered=[(bytes([n // 256, n % 256]) + bytes(14), 1) for n in range(257)]),
        "65 of was": lambda i: i._replace(was=[(bytes([n]) + bytes(15), former, fork, common, []) for n in range(65)]),
    })


def packs(make):
    low, high = sorted(make.id() for _ in range(2))
    sides = sorted((make.lineage() for _ in range(2)), key=lambda side: side.id)
    slots = sorted((make.id(), kind, (make.id(), kind)) for kind in (1, 2, 3))
    rows = [R.Row(7, 0, 0, b"\1old", b"\0v"), R.Row(0, 1, 1, b"\2new", b"")]
    purged = sorted((make.id(), n) for n in (1, 2))
    items = [(1, low, purged, rows), (1, high, [], rows[:1])]
    settings = [(2, 1, [], [(sides[0], 5), (sides[1], 6)]), (2, 9, [], [(sides[0], 7)])]
    sample = ([(low, high, [(make.source.bytes(32), 70_000)])], items + settings + [(3, 0, [], [(sides[0], slots)])])
    make.good("pack", R.pack_bytes(([], [])))
    make.bent("pack", sample, R.pack_bytes, {
        "items descend": lambda p: (p[0], items[::-1]), "settings first": lambda p: (p[0], settings + items),
        "settings descend": lambda p: (p[0], settings[::-1]), "an item twice": lambda p: (p[0], items[:1] * 2),
        "no row": lambda p: (p[0], [(1, low, [], [])]), "no side": lambda p: (p[0], [(2, 1, [], [])]),
        "a setting of one machine": lambda p: (p[0], [(2, 7, [], settings[0][3])]),
        "sides descend": lambda p: (p[0], [(2, 1, [], settings[0][3][::-1])]),
        "slots descend": lambda p: (p[0], [(3, 0, [], [(sides[0], slots[::-1])])]),
        "no slot": lambda p: (p[0], [(3, 0, [], [(sides[0], [])])]),
        "a slot of one machine": lambda p: (p[0], [(3, 0, [], [(sides[0], [(low, 4, (low, 1))])])]),
        "purged descend": lambda p: (p[0], [(1, low, purged[::-1], rows)]),
        "class 2": lambda p: (p[0], [(1, low, [], [rows[0]._replace(cls=2)])]),
        "kind 4": lambda p: (p[0], [(1, low, [], [rows[0]._replace(kind=4)])]),
        "layout 3": lambda p: (p[0], [(1, low, [], [rows[0]._replace(meta=b"\3")])]),
        "no meta": lambda p: (p[0], [(1, low, [], [rows[0]._replace(meta=b"")])]),
        "a number of its own": lambda p: (p[0], [(1, low, [], [rows[1]._replace(number=1)])]),
        "an old row without a number": lambda p: (p[0], [(1, low, [], [rows[0]._replace(number=0)])]),
        "a value in no piece": lambda p: ([(low, high, [])], []),
        "a piece too long": lambda p: ([(low, high, [(bytes(32), R.LIMITS[R.PIECE] + 1)])], []),
    })
    make.bad("pack", u16(0) + u32(1) + b"\4", "record 4")


def epochs(make):
    low, high = sorted(make.id() for _ in range(2))
    cut = [(low, 0), (high, 5)], [(low, R.NOTHING, 0), (high, (3, make.id()), 4)], 7
    make.bent("cut", cut, R.cut_bytes, {
        "removed descend": lambda c: (c[0][::-1], c[1], 7), "taken descend": lambda c: (c[0], c[1][::-1], 7),
        "head 0": lambda c: (c[0], c[1], 0), "a counter with a sign": lambda c: ([(low, 1 << 63)], c[1], 7),
    })
    epoch = R.Epoch(make.id(), make.id(), b"", [low, high], sorted([low, high, make.id()]), b"", [])

    def encode(epoch):
        keys = [bytes([n]) * 32 for n in range(len(epoch.parents))]
        return R.make_epoch(b"e" * 16, epoch, cut, SEED, VAULT_KEY, keys, bytes(24))
    make.good("epoch", encode(epoch._replace(parents=[], ancestors=[])))
    make.bent("epoch", epoch, encode, {
        "parents descend": lambda e: e._replace(parents=e.parents[::-1]),
        "ancestors descend": lambda e: e._replace(ancestors=e.ancestors[::-1]),
        "a parent that is no ancestor": lambda e: e._replace(ancestors=[high]),
        "ancestors alone": lambda e: e._replace(parents=[]),
        "9 parents": lambda e: e._replace(parents=[bytes([n]) * 16 for n in range(9)],
                                          ancestors=[bytes([n]) * 16 for n in range(9)]),
    })
    whole = encode(epoch)
    make.bad("epoch", whole[:-70] + bytes([whole[-70] ^ 1]) + whole[-69:], "a proof that was changed")


def text():
    make_records.RECORDS.update(RECORDS)
    make = make_records.Maker()
    make.source = Source("remote")
    for part in (fronts, inners, packs, epochs):
        part(make)
    return "\n".join(make.lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
