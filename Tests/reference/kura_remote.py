# SPDX-License-Identifier: MIT
"""What machines leave for each other in a store, from kura-sync-format(5) alone: names, objects, heads, and what is in them.

What is read is plain tuples and lists, in the order of the page; writing that again gives the same bytes.
"""
from typing import NamedTuple

from nacl import bindings as sodium
from nacl.exceptions import BadSignatureError

from kura_format import (Damaged, Reader, Refused, Ring, SlotHeader, check_stored_text, keyed_hash, pad, seal, u8, u16, u32, u64,
                         unpad, unseal)
from kura_second import TOP, Lineage, ascending, at_bytes, need, read_at, read_vector, vector_bytes

PACK, PIECE, RECORD, HEADER, JOURNAL, CHAIN = range(1, 7)
HEAD = 0
LIMITS = {HEAD: 262_144, PACK: 4_194_304, PIECE: 1_114_112, RECORD: 131_072, HEADER: 1_048_576, JOURNAL: 32_768,
          CHAIN: 16_416}
BLOCK = 1_024               # heads in a chain, revisions in a journal
NOTHING = (0, bytes(16))
OWN_SETTINGS = (6, 7, 8)    # of each machine


# --- Names and keys -----------------------------------------------------------------------------------------

def name_of(data):
    return keyed_hash(b"", 32, data)


def head_id(data):
    return name_of(data)[:16]


def object_path(vault, device, name):
    return f"kura-{vault.hex()}/objects/{device.hex()}/{name.hex()[:2]}/{name.hex()}"


def head_path(vault, device):
    return f"kura-{vault.hex()}/heads/{device.hex()}"


def remote_key(vault_key, vault):
    return keyed_hash(vault_key, 32, b"kura1/remote", vault)


def proof_key(vault_key, vault):
    return keyed_hash(vault_key, 32, b"kura1/epoch", vault)


def own_key(seed, vault, device):
    return keyed_hash(seed, 32, b"kura1/own", vault, device)


def public_half(seed):
    return sodium.crypto_sign_seed_keypair(seed)[0]


def twin(former, revision, seed):
    """(id, seed) of a machine that finds that another one has its id."""
    device = keyed_hash(b"", 16, b"kura1/twin", former, revision)
    return device, keyed_hash(seed, 32, b"kura1/twin", device)


def signed(purpose, data, seed):
    public, secret = sodium.crypto_sign_seed_keypair(seed)
    return data + sodium.crypto_sign(purpose + data, secret)[:64]


def check_signature(purpose, data, key):
    try:
        sodium.crypto_sign_open(data[-64:] + purpose + data[:-64], key)
    except BadSignatureError:
        raise Damaged("signature") from None


def place(vault, device, epoch, kind):
    return b"\x15" + vault + device + epoch + u8(kind)


def piece_place(vault, device, epoch, value, first):
    return b"\x16" + vault + device + epoch + value + u64(first)


def journal_place(vault, device, after):
    return b"\x17" + vault + device + u64(after)


# --- Objects ------------------------------------------------------------------------------------------------

def object_bytes(kind, epoch, body):
    data = b"KURAOBJ1" + u8(kind) + bytes(7) + epoch + body
    need(len(data) <= LIMITS[kind], "an object that is too long")
    return data


def object_body(data, name, kind, epoch):
    need(len(data) <= LIMITS[kind] and name_of(data) == name, "another object")
    reader = Reader(data)
    need(reader.take(8) == b"KURAOBJ1" and reader.u8() == kind, "object")
    reader.zeros(7)
    need(reader.take(16) == epoch, "epoch")
    return data[32:]


# --- Lists --------------------------------------------------------------------------------------------------

def many(count, read, what=None, key=None):
    found = [read() for _ in range(count)]
    if what:
        ascending([key(x) if key else x for x in found], what)
    return found


def listed(items, encode, count=u16):
    return count(len(items)) + b"".join(map(encode, items))


def read_entry(reader):
    entry = reader.take(16), reader.u64()
    need(1 <= entry[1] <= TOP, "counter")
    return entry


def entry_bytes(entry):
    return entry[0] + u64(entry[1])


# --- Heads --------------------------------------------------------------------------------------------------

class Front(NamedTuple):
    vault: bytes
    device: bytes
    key: bytes
    number: int
    epoch: bytes
    record: bytes
    header: bytes
    chains: list
    ids: list
    journals: list
    own: bytes
    sealed: bytes


def front_bytes(front):
    """All of a head but its signature."""
    return (b"KURAHEAD" + u16(1) + u16(0) + front.vault + front.device + front.key + u64(front.number) + front.epoch
            + front.record + front.header + listed(front.chains, bytes) + listed(front.ids, bytes)
            + listed(front.journals, bytes) + u32(len(front.own)) + front.own + u32(len(front.sealed)) + front.sealed)


def read_front(data):
    need(len(data) <= LIMITS[HEAD], "a head that is too long")
    reader = Reader(data)
    need(reader.take(8) == b"KURAHEAD" and reader.u16() == 1, "head")
    reader.zeros(2)
    front = Front(reader.take(16), reader.take(16), reader.take(32), reader.u64(), reader.take(16), reader.take(32),
                  reader.take(32), many(reader.u16(), lambda: reader.take(32)), many(reader.u16(), lambda: reader.take(16)),
                  many(reader.u16(), lambda: reader.take(32)), reader.take(reader.u32()), reader.take(reader.u32()))
    reader.take(64)
    reader.end()
    need(len(front.chains) <= BLOCK and len(front.ids) < BLOCK
         and front.number == BLOCK * len(front.chains) + len(front.ids) + 1, "chain")
    check_signature(b"kura1/head", data, front.key)
    return front


class Inner(NamedTuple):
    count: int
    time: int
    round: int
    fingerprint: bytes
    label: bytes
    packs: list             # (hash, length, number)
    seen: list              # (device, heard, taken, key)
    covered: list           # (device, counter)
    rounds: list            # (device, number)
    condemned: list         # (hash, number)
    evidence: list          # (device, hash)
    was: list               # (device, former, fork, last, common, void)


def inner_bytes(inner):
    return (u64(inner.count) + u64(inner.time) + u64(inner.round) + inner.fingerprint + u8(len(inner.label)) + inner.label
            + listed(inner.packs, lambda x: x[0] + u32(x[1]) + u64(x[2]))
            + listed(inner.seen, lambda x: x[0] + at_bytes(x[1]) + at_bytes(x[2]) + x[3])
            + listed(inner.covered, entry_bytes) + listed(inner.rounds, entry_bytes)
            + listed(inner.condemned, entry_bytes) + listed(inner.evidence, lambda x: x[0] + x[1])
            + listed(inner.was, was_bytes))


def was_bytes(was):
    return was[0] + was[1] + u64(was[2]) + u64(was[3]) + at_bytes(was[4]) + listed(was[5], at_bytes)


def read_was(reader):
    was = reader.take(16), reader.take(16), reader.u64(), reader.u64(), read_at(reader)
    void = many(reader.u16(), lambda: read_at(reader), "void heads", lambda at: at)
    need(was[2] <= was[3] <= TOP and len(void) <= 4_096 and all(at[0] > was[4][0] for at in void), "was")
    return (*was, void)


def read_inner(data):
    reader = Reader(data)

    def named():
        hash, number = reader.take(32), reader.u64()
        need(1 <= number <= TOP, "number")
        return hash, number
    count, time, round = reader.u64(), reader.u64(), reader.u64()
    fingerprint, label = reader.take(32), reader.take(reader.u8())
    check_stored_text(label, 0, 64)
    packs = many(reader.u16(), lambda: (reader.take(32), reader.u32(), reader.u64()))
    need(max(count, round) <= TOP and len(packs) <= 1_024 and all(length <= LIMITS[PACK] and 1 <= n <= TOP for _, length, n in packs)
         and all(a[2] <= b[2] for a, b in zip(packs, packs[1:])), "packs")
    seen = many(reader.u16(), lambda: (reader.take(16), read_at(reader), read_at(reader), reader.take(32)), "devices",
                lambda x: x[0])
    covered, rounds = (many(reader.u16(), lambda: read_entry(reader), "devices", lambda x: x[0]) for _ in range(2))
    condemned = many(reader.u16(), named, "condemned objects", lambda x: x[0])
    evidence = many(reader.u16(), lambda: (reader.take(16), reader.take(32)), "devices", lambda x: x[0])
    was = many(reader.u16(), lambda: read_was(reader), "devices", lambda x: x[0])
    need(max(map(len, (seen, covered, evidence, rounds))) <= 256 and len(condemned) <= 2_048 and len(was) <= 64, "too many")
    reader.end()
    return Inner(count, time, round, fingerprint, label, packs, seen, covered, rounds, condemned, evidence, was)


def head_bytes(front, inner, ids, seed, vault_key, nonces):
    """A head, sealed and signed; `ids` are the revisions that no journal has."""
    own = seal(own_key(seed, front.vault, front.device), journal_place(front.vault, front.device, BLOCK * len(front.journals)),
               pad(b"".join(ids)), nonces.bytes(24))
    sealed = seal(remote_key(vault_key, front.vault), place(front.vault, front.device, front.epoch, HEAD),
                  pad(inner_bytes(inner)), nonces.bytes(24))
    front = front._replace(key=public_half(seed), own=own, sealed=sealed)
    return signed(b"kura1/head", front_bytes(front), seed)


def open_head(front, vault_key):
    return read_inner(unpad(unseal(remote_key(vault_key, front.vault),
                                   place(front.vault, front.device, front.epoch, HEAD), front.sealed)))


# --- Packs --------------------------------------------------------------------------------------------------

class Row(NamedTuple):
    number: int
    cls: int
    kind: int
    meta: bytes
    body: bytes


def read_row(reader):
    row = Row(reader.u64(), reader.u8(), reader.u8(), reader.take(reader.u32()), reader.take(reader.u32()))
    need(row.number <= TOP and row.cls <= 1 and row.kind <= 3 and row.meta[:1] in (b"\1", b"\2")
         and (row.number == 0) == (row.meta[0] == 2), "row")
    return row


def row_bytes(row):
    return u64(row.number) + u8(row.cls) + u8(row.kind) + u32(len(row.meta)) + row.meta + u32(len(row.body)) + row.body


def read_slot_side(reader):
    side = Lineage.read(reader), many(reader.u8(), lambda: (reader.take(16), reader.u8(), read_entry(reader)), "slots",
                                      lambda x: x[0])
    need(1 <= len(side[1]) <= 64 and all(kind in (1, 2, 3, 6) for _, kind, _ in side[1]), "slots")
    return side


def slot_side_bytes(side):
    return side[0].encode() + listed(side[1], lambda x: x[0] + u8(x[1]) + entry_bytes(x[2]), u8)


def read_record(reader):
    """(kind, id or key, purged, rows or sides)"""
    kind = reader.u8()
    if kind == 1:
        id, start = reader.take(16), reader.at
        purged = [] if reader.u16() == 0 else None
        if purged is None:
            reader.at = start
            purged = read_vector(reader)
        found = many(reader.u16(), lambda: read_row(reader))
    elif kind == 2:
        id, purged = reader.u8(), []
        need(id not in OWN_SETTINGS, "a setting of one machine")
        found = many(reader.u8(), lambda: (Lineage.read(reader), reader.u64()), "sides", lambda x: x[0].id)
    elif kind == 3:
        id, purged = 0, []
        found = many(reader.u8(), lambda: read_slot_side(reader), "sides", lambda x: x[0].id)
    else:
        need(kind == 4, "record")
        id, purged = 0, []
        found = many(reader.u8(), lambda: Ring.decode_note(reader), "notes", lambda x: x[0])
        need(len(found) <= 16 and not any(path for *_, path in found), "notes")
    need(found and (kind == 1 or len(found) <= 255), "record")
    return kind, id, purged, found


def record_bytes(record):
    kind, id, purged, found = record
    if kind == 1:
        return u8(1) + id + (vector_bytes(purged) if purged else u16(0)) + listed(found, row_bytes)
    if kind == 2:
        return u8(2) + u8(id) + listed(found, lambda x: x[0].encode() + u64(x[1]), u8)
    return u8(kind) + listed(found, slot_side_bytes if kind == 3 else Ring.encode_note, u8)


def read_pack(data):
    """(where long values are, records)"""
    reader = Reader(data)
    where = many(reader.u16(), lambda: (reader.take(16), reader.take(16), many(
        reader.u16(), lambda: (reader.take(32), reader.u32()))), "values", lambda x: x[0])
    need(all(pieces and all(length <= LIMITS[PIECE] for _, length in pieces) for _, _, pieces in where), "pieces")
    records = many(reader.u32(), lambda: read_record(reader))
    for one, next in zip(records, records[1:]):
        need(one[0] < next[0] or one[0] == next[0] and one[1] < next[1], "records do not ascend")
    need([4] != [record[0] for record in records[-2:] if record[0] >= 3], "notes without slots")
    reader.end()
    return where, records


def pack_bytes(pack):
    where, records = pack
    return listed(where, lambda x: x[0] + x[1] + listed(x[2], lambda p: p[0] + u32(p[1]))) + listed(records, record_bytes, u32)


# --- Epochs and headers ---------------------------------------------------------------------------------------

def read_cut(data):
    """(removed, taken, first, whether the slots of recovery keys alone get into the store)"""
    reader = Reader(data)
    removed = many(reader.u16(), lambda: (reader.take(16), reader.u64()), "devices", lambda x: x[0])
    taken = many(reader.u16(), lambda: (reader.take(16), read_at(reader), reader.u64()), "devices", lambda x: x[0])
    first = reader.u64()
    sparing = reader.at < len(reader.data)
    need(not sparing or reader.u8() == 1, "slots in the store")
    need(max(map(len, (removed, taken))) <= 256 and 1 <= first <= TOP and all(x[-1] <= TOP for x in removed + taken), "cut")
    reader.end()
    return removed, taken, first, sparing


def cut_bytes(cut):
    return listed(cut[0], entry_bytes) + listed(cut[1], lambda x: x[0] + at_bytes(x[1]) + u64(x[2])) + u64(cut[2]) + b"\1" * cut[3]


class Epoch(NamedTuple):
    vault: bytes
    maker: bytes
    key: bytes
    parents: list
    ancestors: list
    sealed: bytes
    proofs: list


def epoch_bytes(epoch):
    """An epoch record but for its proofs and its signature."""
    return (epoch.vault + epoch.maker + epoch.key + listed(epoch.parents, bytes, u8) + listed(epoch.ancestors, bytes)
            + u32(len(epoch.sealed)) + epoch.sealed)


def make_epoch(id, epoch, cut, seed, vault_key, parent_keys, nonce):
    """The body of a record; `parent_keys` are the vault keys of the parents, in turn."""
    sealed = seal(remote_key(vault_key, epoch.vault), place(epoch.vault, epoch.maker, id, RECORD), pad(cut_bytes(cut)), nonce)
    front = epoch_bytes(epoch._replace(key=public_half(seed), sealed=sealed))
    proofs = [keyed_hash(proof_key(key, epoch.vault), 32, front) for key in parent_keys]
    return signed(b"kura1/epoch", front + b"".join(proofs), seed)


def read_epoch(data):
    reader = Reader(data)
    epoch = Epoch(reader.take(16), reader.take(16), reader.take(32), many(reader.u8(), lambda: reader.take(16), "parents"),
                  many(reader.u16(), lambda: reader.take(16), "ancestors"), reader.take(reader.u32()), [])
    need(len(epoch.parents) <= 8 and len(epoch.ancestors) <= 1_024 and set(epoch.parents) <= set(epoch.ancestors)
         and bool(epoch.parents) == bool(epoch.ancestors), "ancestors")
    epoch = epoch._replace(proofs=many(len(epoch.parents), lambda: reader.take(32)))
    reader.take(64)
    reader.end()
    check_signature(b"kura1/epoch", data, epoch.key)
    return epoch


def is_proved(epoch, parent, vault_key):
    """Whether the maker of an epoch had the key of this parent."""
    proof = keyed_hash(proof_key(vault_key, epoch.vault), 32, epoch_bytes(epoch))
    return parent in epoch.parents and epoch.proofs[epoch.parents.index(parent)] == proof


def check_slot(header, key, half):
    """A slot that may stand elsewhere too."""
    need(len(header) >= 48 and header[0] in (1, 2, 3, 6), "a slot that stays")
    if header[0] == 6:
        need(header[1:16] == bytes(15), "the cost of a security key")
        body = Reader(header[48:])
        need(body.u16() == len(header) - 50 and body.u8() <= 1, "a security key's part")
        need(1 <= len(body.take(body.u16())) <= 1_023, "a credential")
        body.end()
    else:
        try:
            SlotHeader.decode(header)
        except Refused as reason:
            raise Damaged(str(reason)) from None
    need(len(key) == 328 and len(half) in ((0, 104) if header[0] in (3, 6) else (104,)), "slot")


def read_header_object(data):
    """(header, [(slot header, key, protected half)])"""
    reader = Reader(data)
    header = reader.take(24)
    need(header[:8] == b"KURA\2\0\0\0", "header")
    slots = many(reader.u8(), lambda: tuple(reader.take(reader.u16()) for _ in range(3)))
    for slot in slots:
        check_slot(*slot)
    ascending([x[0][32:48] for x in slots], "slots")
    need(1 <= len(slots) <= 64, "slots")
    reader.end()
    return header, slots


def header_object_bytes(found):
    return found[0] + listed(found[1], lambda slot: b"".join(u16(len(x)) + x for x in slot), u8)


# --- Pieces, chains, journals, seeds ----------------------------------------------------------------------------

def read_piece(data):
    reader = Reader(data)
    chunks = many(reader.u8(), lambda: reader.take(reader.u32()))
    need(1 <= len(chunks) <= 16 and all(73 <= len(x) <= 65_608 for x in chunks), "piece")
    reader.end()
    return chunks


def piece_bytes(chunks):
    return listed(chunks, lambda x: u32(len(x)) + x, u8)


def read_block(data):
    need(len(data) == 16 * BLOCK, "block")
    return [data[at:at + 16] for at in range(0, len(data), 16)]


def seed_file(vault, device, seed, sync_key, nonce):
    return b"KURASYNC" + vault + device + seal(sync_key, b"\x18" + vault + device, seed, nonce)


def read_seed_file(data, vault, device, sync_key):
    need(len(data) == 144 and data[:40] == b"KURASYNC" + vault + device, "seed")
    return unseal(sync_key, b"\x18" + vault + device, data[40:])
