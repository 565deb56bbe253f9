# SPDX-License-Identifier: MIT
"""Kura vault format 1: the root, item rows, manifests, history columns and the seen file."""

import struct
from dataclasses import dataclass, field

from kura_format import (CHUNK_SIZE, MAX_META, ZERO32, Damaged, Reader, Refused,
                         check_stored_text, keyed_hash, u16, u32, u64, u8)

MAX_VALUE = 1 << 40
MAX_HISTORY = 1024


@dataclass
class Root:
    epoch: int
    items: int
    deleted: int
    depth: int
    tree_root: bytes
    header_digest: bytes
    previous: bytes
    writer: bytes
    time: int
    log_head: bytes = ZERO32
    only_seen: bool = False

    def encode(self):
        return (u64(self.epoch) + u64(self.items) + u64(self.deleted) + u8(self.depth) + bytes(7)
                + self.tree_root + self.header_digest + self.previous + self.log_head
                + self.writer + u64(self.time) + bytes(40))

    @staticmethod
    def decode(data):
        reader = Reader(data)
        epoch, items, deleted, depth = reader.u64(), reader.u64(), reader.u64(), reader.u8()
        reader.zeros(7)
        tree_root, header_digest, previous, log_head = (reader.take(32) for _ in range(4))
        root = Root(epoch, items, deleted, depth, tree_root, header_digest, previous,
                    reader.take(16), reader.u64(), log_head)
        reader.zeros(40)
        reader.end()
        if not 1 <= depth <= 3 or epoch == 0 or deleted > items:
            raise Damaged("root fields")
        return root


def header_digest(root_key, header, ring, slots):
    """`slots` is [(number, header, key, protected)] by number."""
    parts = [b"\x04", u32(len(header)), header, u32(len(ring)), ring, u16(len(slots))]
    for number, *blobs in slots:
        parts.append(u8(number))
        for blob in blobs:
            parts += [u32(len(blob)), blob]
    return keyed_hash(root_key, 32, *parts)


def fingerprint(tree_key, root_payload):
    return keyed_hash(tree_key, 32, b"\x05", root_payload)


@dataclass
class Row:
    """A row of `item`; a row of `history` has no history column of its own."""
    tag: bytes
    id: bytes
    revision: int
    generation: int
    cls: int
    kind: int
    history: bytes
    meta: bytes
    body: bytes

    def facts(self):
        return u64(self.revision) + u32(self.generation) + u8(self.cls) + u8(self.kind)

    def meta_ad(self, vault_id):
        return b"\x05" + vault_id + self.tag + self.id + self.facts()

    def body_ad(self, vault_id):
        return b"\x06" + vault_id + self.id + self.facts()

    def fits_leaf(self):
        """Whether every field has a length and range that the leaf can speak of."""
        return (len(self.tag) == len(self.id) == 16 and not len(self.history) % 40
                and min(len(self.meta), len(self.body)) >= 72 and 0 <= self.revision < 1 << 63
                and 0 <= self.generation < 1 << 32 and 0 <= self.cls < 256
                and 0 <= self.kind < 256)

    def check_fields(self, last_kind=2):
        if not self.revision or self.cls > 1 or self.kind > last_kind:
            raise Damaged("row fields")

    def leaf(self, tree_key, in_history=False):
        head = ZERO32
        if self.history and not in_history:
            head = keyed_hash(tree_key, 32, b"\x03", self.id, self.history)
        return keyed_hash(tree_key, 32, b"\0", self.tag, self.id, self.facts(), self.meta[:56],
                          self.meta[-16:], self.body[:56], self.body[-16:], head)


def read_history(column, current):
    """[(revision, leaf)] of a history column, ascending and below the current revision."""
    entries = [(int.from_bytes(column[at:at + 8], "little"), column[at + 8:at + 40])
               for at in range(0, len(column), 40)]
    revisions = [revision for revision, _ in entries] + [current]
    if any(a >= b for a, b in zip(revisions, revisions[1:])) or revisions[0] == 0 \
            or len(entries) > MAX_HISTORY:
        raise Damaged("history order")
    return entries


@dataclass
class Meta:
    created: int
    modified: int
    size: int
    name: bytes
    attributes: dict = field(default_factory=dict)

    def encode(self):
        out = u8(1) + u64(self.created) + u64(self.modified) + u64(self.size)
        out += u16(len(self.name)) + self.name + u16(len(self.attributes))
        for key, value in sorted(self.attributes.items()):
            out += u16(len(key)) + key + u32(len(value)) + value
        return out

    @staticmethod
    def decode(data):
        if len(data) > MAX_META:
            raise Damaged("meta too long")
        reader = Reader(data)
        if reader.u8() != 1:
            raise Damaged("layout")
        created, modified, size = reader.u64(), reader.u64(), reader.u64()
        name = reader.take(reader.u16())
        pairs = [(reader.take(reader.u16()), reader.take(reader.u32()))
                 for _ in range(reader.u16())]
        reader.end()
        keys = [key for key, _ in pairs]
        if any(a >= b for a, b in zip(keys, keys[1:])) or len(pairs) > 256:
            raise Damaged("attribute order")
        for key, value in pairs:
            check_attribute(key, value)
        if size > MAX_VALUE:
            raise Damaged("size")
        return Meta(created, modified, size, name, dict(pairs))


def check_attribute(key, value):
    check_stored_text(key, 1, 255)
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        raise Damaged("attribute value") from None
    if b"=" in key or b"\0" in value:
        raise Damaged("attribute")


@dataclass
class Manifest:
    """What the body of a value over 64 KiB holds in its place."""
    length: int
    chunks: int
    value_id: bytes
    value_key: bytes

    def encode(self):
        return b"\x01" + u64(self.length) + u64(self.chunks) + self.value_id + self.value_key

    @staticmethod
    def decode(data):
        reader = Reader(data)
        manifest = Manifest(reader.u64(), reader.u64(), reader.take(16), reader.take(32))
        reader.end()
        if not CHUNK_SIZE < manifest.length <= MAX_VALUE \
                or manifest.chunks != -(-manifest.length // CHUNK_SIZE):
            raise Damaged("chunk count")
        return manifest

    def chunk_ad(self, index):
        return b"\x07" + self.value_id + u64(index) + u8(index == self.chunks - 1)

    def chunk_length(self, index):
        return min(CHUNK_SIZE, self.length - index * CHUNK_SIZE)


# --- Tree hashes --------------------------------------------------------------------------------

def bucket_number(tag, depth):
    return int.from_bytes(tag, "big") >> (128 - 6 * depth)


def bucket_digest(tree_key, vault_id, depth, number, leaves):
    if not leaves:
        return ZERO32
    return keyed_hash(tree_key, 32, b"\x01", vault_id, u8(depth), u32(number),
                      u32(len(leaves) // 48), leaves)


def node_digest(tree_key, vault_id, depth, level, index, digests):
    if not any(digests):
        return ZERO32
    return keyed_hash(tree_key, 32, b"\x02", vault_id, u8(depth), u8(level), u32(index), digests)


# --- The seen file ------------------------------------------------------------------------------

@dataclass
class Seen:
    counter: int
    epoch: int
    fingerprint: bytes
    time: int
    path: bytes = b""
    log_head: bytes = ZERO32
    only_seen: bool = False

    def encode(self, seen_key, vault_id):
        body = (b"KURASEEN" + u64(self.counter) + vault_id + u64(self.epoch) + self.fingerprint
                + self.log_head + u64(self.time) + u16(len(self.path[:360])) + self.path[:360])
        body += bytes(479 - len(body)) + u8(self.only_seen)
        return body + keyed_hash(seen_key, 32, body)

    @staticmethod
    def decode(data, seen_key, vault_id):
        """One 512-byte slot, or None when it is not a whole one of this vault."""
        if len(data) != 512 or keyed_hash(seen_key, 32, data[:480]) != data[480:]:
            return None
        magic, counter, vault, epoch, mark, log_head, time, length = struct.unpack(
            "<8sQ16sQ32s32sQH", data[:114])
        if magic != b"KURASEEN" or vault != vault_id or length > 360:
            return None
        return Seen(counter, epoch, mark, time, data[114:114 + length], log_head, data[479] == 1)


def newest_seen(data, seen_key, vault_id):
    slots = [Seen.decode(data[at:at + 512], seen_key, vault_id) for at in (0, 512)]
    return max((s for s in slots if s), key=lambda s: s.counter, default=None)


def check_seen(seen, epoch, mark):
    if seen and epoch < seen.epoch:
        raise Refused("seen", "rolled-back", f"{epoch} < {seen.epoch}")
    if seen and epoch == seen.epoch and mark != seen.fingerprint:
        raise Refused("seen", "forked")


def read_erase_rule(data, secret, slot_id):
    """After how many wrong codes a device secret is destroyed; 0 for never."""
    if len(data) != 72:
        raise Damaged("erase rule: length")
    if keyed_hash(secret, 32, b"kura1/erase", data[:40]) != data[40:]:
        raise Damaged("erase rule: hash")
    if data[:8] != b"KURAERA1" or data[8:24] != slot_id or data[32:40] != bytes(8):
        raise Damaged("erase rule: fields")
    return int.from_bytes(data[24:32], "little")
