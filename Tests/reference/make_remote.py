#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes Fixtures/vectors/records/remote-1.txt: what stands in a store, as make_records.py does."""
from pathlib import Path

import kura_remote as R
import make_records
from kura_format import Damaged, SlotHeader, Source, WrongKey, pad, seal, u16, u32, unpad, unseal

TARGET = Path(__file__).resolve().parents[2] / "Fixtures/vectors/records/remote-1.txt"
RECORDS = {
    "front": lambda data: R.front_bytes(R.read_front(data)) + data[-64:],
    "inner": lambda data: R.inner_bytes(R.read_inner(data)),
    "pack": lambda data: R.pack_bytes(R.read_pack(data)),
    "cut": lambda data: R.cut_bytes(R.read_cut(data)),
    "object": lambda data: R.object_bytes(data[8], EPOCH, R.object_body(data, R.name_of(data), data[8], EPOCH)),
    "piece": lambda data: R.piece_bytes(R.read_piece(data)),
    "chain": lambda data: b"".join(R.read_block(data)),
    "header": lambda data: R.header_object_bytes(R.read_header_object(data)),
    "seed": lambda data: seed_again(data),
    "keys": lambda data: data[:80] + keys_bytes(data[:80]),
    "sealed": lambda data: sealed_bytes(data),
    "epoch": lambda data: R.epoch_bytes(R.read_epoch(data)) + b"".join(R.read_epoch(data).proofs) + data[-64:],
}
SEED = bytes(range(32))
VAULT_KEY = bytes(range(32, 64))
VAULT, DEVICE, EPOCH, VALUE = (bytes([n]) * 16 for n in (1, 2, 3, 4))


def keys_bytes(data):
    """All keys and ids that come of `VK 32 || seed 32 || revision id 16`."""
    key, seed, revision = data[:32], data[32:64], data[64:]
    return (R.remote_key(key, VAULT) + R.proof_key(key, VAULT) + R.own_key(seed, VAULT, DEVICE) + R.public_half(seed)
            + b"".join(R.twin(DEVICE, revision, seed)))


def place_of(kind):
    return {R.PIECE: R.piece_place(VAULT, DEVICE, EPOCH, VALUE, 16),
            R.JOURNAL: R.journal_place(VAULT, DEVICE, 2 * R.BLOCK)}.get(kind, R.place(VAULT, DEVICE, EPOCH, kind))


def seed_again(data):
    try:
        return R.seed_file(VAULT, DEVICE, R.read_seed_file(data, VAULT, DEVICE, VAULT_KEY), VAULT_KEY, data[40:64])
    except WrongKey:
        raise Damaged("another key") from None


def sealed_bytes(data):
    """`u8 kind || seal(...)` as it stands in an object of that kind, or in a head; sealed again."""
    kind, sealed = data[0], data[1:]
    key = R.own_key(SEED, VAULT, DEVICE) if kind == R.JOURNAL else R.remote_key(VAULT_KEY, VAULT)
    try:
        plain = unpad(unseal(key, place_of(kind), sealed))
    except WrongKey:
        raise Damaged("another place") from None
    return bytes([kind]) + seal(key, place_of(kind), pad(plain), sealed[:24])


def sample_inner(make):
    low, high = sorted(make.id() for _ in range(2))
    hashes = sorted(make.source.bytes(32) for _ in range(3))
    at = 3, make.id()
    was = (low, make.id(), 4, 6, at, [(4, make.id()), (6, make.id())])
    return R.Inner(9, 1_760_000_000_000, 3, make.source.bytes(32), "büro".encode(),
                   [(hashes[2], 5_000, 1), (hashes[0], 6_000, 4)],
                   [(low, at, R.NOTHING, make.source.bytes(32)), (high, (8, make.id()), at, bytes(32))],
                   [(low, 1), (high, 7)], [(low, 2), (high, 5)], [(hashes[0], 2), (hashes[1], 1)], [(high, hashes[1])], [was])


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
    make.good("inner", R.inner_bytes(R.Inner(0, 0, 0, bytes(32), b"", [], [], [], [], [], [], [])))
    bends = {name + " descend": lambda i, name=name: i._replace(**{name: getattr(i, name)[::-1]})
             for name in ("packs", "seen", "covered", "rounds", "condemned")}
    device, former, fork, last, common, void = sample.was[0]
    make.bent("inner", sample, R.inner_bytes, bends | {
        "label": lambda i: i._replace(label=b"a\x07"), "a long label": lambda i: i._replace(label=b"a" * 65),
        "a pack too long": lambda i: i._replace(packs=[(bytes(32), R.LIMITS[R.PACK] + 1, 1)]),
        "a pack of head 0": lambda i: i._replace(packs=[(bytes(32), 1, 0)]),
        "covered 0": lambda i: i._replace(covered=[(device, 0)]), "round 0": lambda i: i._replace(rounds=[(device, 0)]),
        "condemned by head 0": lambda i: i._replace(condemned=[(bytes(32), 0)]),
        "a head without an id": lambda i: i._replace(seen=[(device, (1, bytes(16)), R.NOTHING, bytes(32))]),
        "an id without a head": lambda i: i._replace(seen=[(device, R.NOTHING, (0, device), bytes(32))]),
        "a count with a sign": lambda i: i._replace(count=1 << 63),
        "a round with a sign": lambda i: i._replace(round=1 << 63),
        "void heads descend": lambda i: i._replace(was=[(device, former, fork, last, common, void[::-1])]),
        "a last change before the fork": lambda i: i._replace(was=[(device, former, fork, fork - 1, common, void)]),
        "a void head that both have": lambda i: i._replace(was=[(device, former, fork, last, common, [common])]),
        "257 devices": lambda i: i._replace(covered=[(bytes([n // 256, n % 256]) + bytes(14), 1) for n in range(257)]),
        "rounds of 257 devices": lambda i: i._replace(rounds=[(bytes([n // 256, n % 256]) + bytes(14), 1) for n in range(257)]),
        "65 of was": lambda i: i._replace(was=[(bytes([n]) + bytes(15), former, fork, last, common, []) for n in range(65)]),
    })


def packs(make):
    low, high = sorted(make.id() for _ in range(2))
    sides = sorted((make.lineage() for _ in range(2)), key=lambda side: side.id)
    slots = sorted((make.id(), kind, (make.id(), kind)) for kind in (1, 2, 3, 6))
    rows = [R.Row(7, 0, 0, b"\1old", b"\0v"), R.Row(0, 1, 1, b"\2new", b"")]
    purged = sorted((make.id(), n) for n in (1, 2))
    items = [(1, low, purged, rows), (1, high, [], rows[:1])]
    settings = [(2, 1, [], [(sides[0], 5), (sides[1], 6)]), (2, 9, [], [(sides[0], 7)])]
    table = (3, 0, [], [(sides[0], slots)])
    notes = [(slot, 1_760_000_000_000 + kind, kind & 1, label, b"") for (slot, kind, _), label in zip(slots, ("", "büro", "x"))]
    notes = [(slot, created, flags, label.encode(), place) for slot, created, flags, label, place in notes]
    sample = ([(low, high, [(make.source.bytes(32), 70_000)])], items + settings + [table, (4, 0, [], notes)])
    many_notes = [(bytes([n]) * 16, 1, 0, b"", b"") for n in range(17)]
    make.good("pack", R.pack_bytes(([], items + [table])))
    make.good("pack", R.pack_bytes(([], [table, (4, 0, [], many_notes[:16])])))
    make.good("pack", R.pack_bytes(([], [])))
    make.bent("pack", sample, R.pack_bytes, {
        "items descend": lambda p: (p[0], items[::-1]), "settings first": lambda p: (p[0], settings + items),
        "settings descend": lambda p: (p[0], settings[::-1]), "an item twice": lambda p: (p[0], items[:1] * 2),
        "no row": lambda p: (p[0], [(1, low, [], [])]), "no side": lambda p: (p[0], [(2, 1, [], [])]),
        "a setting of one machine": lambda p: (p[0], [(2, 7, [], settings[0][3])]),
        "sides descend": lambda p: (p[0], [(2, 1, [], settings[0][3][::-1])]),
        "slots descend": lambda p: (p[0], [(3, 0, [], [(sides[0], slots[::-1])])]),
        "no side of slots": lambda p: (p[0], [(3, 0, [], [])]),
        "sides of slots descend": lambda p: (p[0], [(3, 0, [], [(side, slots) for side in sides[::-1]])]),
        "no slot": lambda p: (p[0], [(3, 0, [], [(sides[0], [])])]),
        "a slot of one machine": lambda p: (p[0], [(3, 0, [], [(sides[0], [(low, 4, (low, 1))])])]),
        "a slot of kind 5": lambda p: (p[0], [(3, 0, [], [(sides[0], [(low, 5, (low, 1))])])]),
        "notes without slots": lambda p: (p[0], items + [(4, 0, [], notes)]),
        "notes descend": lambda p: (p[0], [table, (4, 0, [], notes[::-1])]),
        "no note": lambda p: (p[0], [table, (4, 0, [], [])]),
        "notes first": lambda p: (p[0], [(4, 0, [], notes), table]),
        "17 notes": lambda p: (p[0], [table, (4, 0, [], many_notes[:17])]),
        "a note with a path": lambda p: (p[0], [table, (4, 0, [], [notes[0][:4] + (b"/key",)])]),
        "a note with a flag too many": lambda p: (p[0], [table, (4, 0, [], [notes[0][:2] + (2,) + notes[0][3:]])]),
        "a note with no label": lambda p: (p[0], [table, (4, 0, [], [notes[0][:3] + (b"a\x07", b"")])]),
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
    make.bad("pack", u16(0) + u32(1) + b"\5", "record 5")


def epochs(make):
    low, high = sorted(make.id() for _ in range(2))
    cut = [(low, 0), (high, 5)], [(low, R.NOTHING, 0), (high, (3, make.id()), 4)], 7, False
    make.bent("cut", cut, R.cut_bytes, {
        "removed descend": lambda c: (c[0][::-1], *c[1:]), "taken descend": lambda c: (c[0], c[1][::-1], *c[2:]),
        "head 0": lambda c: (c[0], c[1], 0, False), "a counter with a sign": lambda c: ([(low, 1 << 63)], *c[1:]),
        "slots kept out twice": lambda c: (*c[:3], 2),
    })
    make.good("cut", R.cut_bytes((*cut[:3], True)))
    make.bad("cut", R.cut_bytes(cut) + b"\0", "slots kept out in no way")
    make.bad("cut", R.cut_bytes(cut) + b"\2", "slots kept out in another way")
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


def objects(make):
    for kind in range(1, 7):
        make.good("object", R.object_bytes(kind, EPOCH, b"body"))
    whole = R.object_bytes(R.PACK, EPOCH, b"body")
    for at, what in ((0, "magic"), (7, "version"), (9, "reserved"), (15, "reserved"), (16, "another epoch"), (31, "another epoch")):
        make.bad("object", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], what)
    make.bad("object", whole[:31], "cut")
    make.good("object", whole[:32])
    make.bad("object", whole[:8] + bytes([R.CHAIN]) + whole[9:32] + bytes(16_385), "more than a chain has")


def pieces(make):
    make.bent("piece", [b"c" * 73, b"d" * 500], R.piece_bytes, {
        "no chunk": lambda p: p.clear(), "17 chunks": lambda p: p[:1] * 17, "an empty chunk": lambda p: [b"c" * 72],
        "a chunk too long": lambda p: [b"c" * 65_609],
    })
    make.good("chain", make.source.bytes(16 * R.BLOCK))
    make.bad("chain", bytes(16 * R.BLOCK - 16), "an id too few")
    make.bad("chain", bytes(16 * R.BLOCK + 16), "an id too many")


def headers(make):
    def slot(kind, id, key=328, half=104, kdf=(0, 0)):
        front = SlotHeader(kind, int(kdf[0] > 0), *kdf, make.source.bytes(16), bytes([id]) * 16).encode()
        return front + (part(1, b"id") if kind == 6 else b""), make.source.bytes(key), make.source.bytes(half)
    def part(flags, id):
        return u16(3 + len(id)) + bytes([flags]) + u16(len(id)) + id
    def bent(part):
        return change(3, (slot(6, 4)[0][:48] + part, *slot(6, 4, half=0)[1:]))
    sample = (b"KURA\2\0\0\0" + VAULT, [slot(1, 1, kdf=(3, 1 << 26)), slot(2, 2), slot(3, 3, half=0), slot(6, 4, half=0)])
    change = lambda n, new: lambda h: (h[0], h[1][:n] + [new] + h[1][n + 1:])
    make.bent("header", sample, R.header_object_bytes, {
        "no slot": lambda h: (h[0], []), "slots descend": lambda h: (h[0], h[1][::-1]), "a slot twice": lambda h: (h[0], h[1][:1] * 2),
        "65 slots": lambda h: (h[0], [slot(2, n) for n in range(65)]),
        "format 1": lambda h: (b"KURA\1\0\0\0" + VAULT, h[1]), "reserved": lambda h: (b"KURA\2\0\1\0" + VAULT, h[1]),
        "no vault": lambda h: (b"KURB\2\0\0\0" + VAULT, h[1]),
        "a slot of a machine": change(2, slot(4, 3, kdf=(3, 1 << 26))), "a slot of kind 5": change(2, slot(5, 3)),
        "a slot out of use": change(2, (b"\7" + bytes(31) + b"\3" * 16, b"k", b"")),
        "a slot of kind 8": change(2, slot(8, 3)),
        "a passcode that costs nothing": change(0, slot(1, 1)), "no protected half": change(1, slot(2, 2, half=0)),
        "a longer half": change(2, slot(3, 3, half=105)), "a shorter key": change(1, slot(2, 2, key=327)),
        "a shorter header": change(3, (slot(6, 4)[0][:47], b"", b"")),
        "a security key's part that is missing": bent(b""), "that is longer": bent(part(1, b"id") + b"x"),
        "a flag that there is not": bent(part(2, b"id")), "no credential": bent(part(0, b"")),
        "a credential too long": bent(part(0, bytes(1_024))), "another length of it": bent(u16(6) + part(1, b"id")[2:]),
    })


def secrets(make):
    make.good("keys", VAULT_KEY + SEED + VALUE + keys_bytes(VAULT_KEY + SEED + VALUE))
    make.bent("seed", SEED, lambda seed: R.seed_file(VAULT, DEVICE, seed, VAULT_KEY, bytes(24)), {
        "longer inside": lambda seed: seed + b"x"})
    whole = R.seed_file(VAULT, DEVICE, SEED, VAULT_KEY, bytes(24))
    for at in (0, 8, 24, 70, 143):
        make.bad("seed", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], f"byte {at}")
    for kind in (R.HEAD, R.PACK, R.PIECE, R.RECORD, R.JOURNAL):
        key = R.own_key(SEED, VAULT, DEVICE) if kind == R.JOURNAL else R.remote_key(VAULT_KEY, VAULT)
        sealed = seal(key, place_of(kind), pad(b"sealed"), make.source.bytes(24))
        make.good("sealed", bytes([kind]) + sealed)
        make.bad("sealed", bytes([R.PACK if kind == R.HEAD else R.HEAD]) + sealed, f"kind {kind} elsewhere")


def text():
    make_records.RECORDS.update(RECORDS)
    make = make_records.Maker()
    make.source = Source("remote")
    for part in (fronts, inners, packs, epochs, objects, pieces, headers, secrets):
        part(make)
    return "\n".join(make.lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
