# SPDX-License-Identifier: MIT
"""The records that vaults of format 2 have and those of format 1 do not, from kura-format(5) alone.

Vectors are made from and compared as bytes; each record is decoded to plain tuples and dictionaries, and
`encode` of what was decoded gives the same bytes again.
"""

from dataclasses import dataclass, field

from kura_format import (Damaged, Reader, Refused, Ring, check_stored_text, keyed_hash, normal_name,
                         u16, u32, u64, u8)
from kura_record import MAX_VALUE, check_attribute

MAX_PART, MAX_META, MAX_BODY, MAX_RING = 65536, 131072, 262144, 524288
TOP = (1 << 63) - 1


def need(holds, what):
    if not holds:
        raise Damaged(what)


def ascending(keys, what):
    need(all(a < b for a, b in zip(keys, keys[1:])), what + " do not ascend")


# --- Vectors and lineages -----------------------------------------------------------------------

def read_vector(reader):
    """[(device, counter)]"""
    vector = [(reader.take(16), reader.u64()) for _ in range(reader.u16())]
    need(1 <= len(vector) <= 512 and all(1 <= n <= TOP for _, n in vector), "vector")
    ascending([device for device, _ in vector], "devices")
    return vector


def vector_bytes(vector):
    return u16(len(vector)) + b"".join(device + u64(n) for device, n in vector)


@dataclass
class Lineage:
    id: bytes
    depth: int
    vector: list
    own: int

    @staticmethod
    def read(reader):
        lineage = Lineage(reader.take(16), reader.u64(), read_vector(reader), reader.u16())
        need(1 <= lineage.depth <= 1 << 40 and lineage.own < len(lineage.vector), "lineage")
        return lineage

    def encode(self):
        return self.id + u64(self.depth) + vector_bytes(self.vector) + u16(self.own)

    @property
    def entry(self):
        return self.vector[self.own]

    def follows(self, other):
        device, counter = other.entry
        return self.id != other.id and self.entry != other.entry \
            and dict(self.vector).get(device, 0) >= counter


# --- Meta, layout 2 -----------------------------------------------------------------------------

@dataclass
class Trail:
    """Fields are lists of indexes into `stamps`, whose 0 is the revision itself and has no entry."""
    created: int
    modified: int
    size: int
    name: bytes
    attributes: list        # (key, value)
    secrets: list           # (key, size)
    lineage: Lineage
    stamps: list            # (device index, counter, depth, id)
    fields: list
    deleted: list           # (key, field)
    sides: list = field(default_factory=list)

    def encode(self):
        out = u8(2) + u64(self.created) + u64(self.modified) + u64(self.size)
        out += u16(len(self.name)) + self.name + u16(len(self.attributes))
        out += b"".join(u16(len(k)) + k + u32(len(v)) + v for k, v in self.attributes)
        out += u16(len(self.secrets))
        out += b"".join(u16(len(k)) + k + u32(size) for k, size in self.secrets)
        out += self.lineage.encode() + u16(len(self.stamps))
        out += b"".join(u16(d) + u64(n) + u64(depth) + i for d, n, depth, i in self.stamps)
        out += b"".join(map(field_bytes, self.fields)) + u16(len(self.deleted))
        out += b"".join(u16(len(k)) + k + field_bytes(f) for k, f in self.deleted)
        return out + u16(len(self.sides)) + b"".join(map(u64, self.sides))

    @staticmethod
    def decode(data):
        need(len(data) <= MAX_META, "meta too long")
        reader = Reader(data)
        need(reader.u8() == 2, "layout")
        created, modified, size = reader.u64(), reader.u64(), reader.u64()
        name = reader.take(reader.u16())
        attributes = [(reader.take(reader.u16()), reader.take(reader.u32()))
                      for _ in range(reader.u16())]
        need(reader.at <= MAX_PART, "attributes too long")
        secrets = [(reader.take(reader.u16()), reader.u32()) for _ in range(reader.u16())]
        lineage = Lineage.read(reader)
        stamps = [(reader.u16(), reader.u64(), reader.u64(), reader.take(16))
                  for _ in range(reader.u16())]
        fields = [read_field(reader) for _ in range(2 + len(attributes) + len(secrets))]
        deleted = [(reader.take(reader.u16()), read_field(reader)) for _ in range(reader.u16())]
        sides = [reader.u64() for _ in range(reader.u16())]
        reader.end()
        trail = Trail(created, modified, size, name, attributes, secrets, lineage, stamps, fields,
                      deleted, sides)
        trail.check()
        return trail

    def check(self):
        need(self.size <= MAX_VALUE, "size")
        self.check_keys()
        self.check_stamps()
        ascending([0] + self.sides, "sides")
        need(len(self.sides) <= 255, "sides")
        counts = [len(field) for field in self.fields + [f for _, f in self.deleted]]
        need(max(counts, default=0) <= 255, "contents of a field")
        if not self.name:
            need(not any((self.attributes, self.secrets, self.deleted, self.sides, self.size))
                 and counts == [0, 0], "a purged item with more than that")
            return
        try:
            need(normal_name(self.name, ("Cc",)) == self.name, "name")
        except Refused as reason:
            raise Damaged(str(reason)) from None
        need(0 not in counts[1:], "set by nobody")

    def check_keys(self):
        lists = [[key for key, _ in pairs]
                 for pairs in (self.attributes, self.secrets, self.deleted)]
        for keys in lists:
            ascending(keys, "keys")
        need(len(lists[0]) + len(lists[1]) <= 256 and len(lists[2]) <= 256, "attributes")
        need(len(set(sum(lists, []))) == sum(map(len, lists)), "a key stands twice")
        for key, value in self.attributes:
            check_attribute(key, value)
        for key in lists[1] + lists[2]:
            check_attribute(key, b"")
        need(all(size <= MAX_PART for _, size in self.secrets), "secret attribute too long")

    def check_stamps(self):
        need(len(self.stamps) <= 1024, "stamps")
        for device, counter, depth, stamp_id in self.stamps:
            need(device < len(self.lineage.vector), "device of a stamp")
            need(1 <= counter <= self.lineage.vector[device][1], "counter of a stamp")
            need(1 <= depth < self.lineage.depth and stamp_id != self.lineage.id, "stamp")
        ascending([(depth, stamp_id) for _, _, depth, stamp_id in self.stamps], "stamps")
        used = set()
        for contents in self.fields + [f for _, f in self.deleted]:
            need(all(stamp <= len(self.stamps) for stamp in contents), "no such stamp")
            ascending(contents[1:], "contents")
            need(len(set(contents)) == len(contents), "a content twice")
            used |= set(contents)
        need(used >= set(range(1, len(self.stamps) + 1)), "a stamp of nothing")


def read_field(reader):
    return [reader.u16() for _ in range(reader.u8())]


def field_bytes(contents):
    return u8(len(contents)) + b"".join(map(u16, contents))


def old_revision(item_id, revision, cls, kind, meta):
    """The lineage that a row with a meta of layout 1 stands for."""
    mark = keyed_hash(b"", 16, b"kura1/revision", item_id, u64(revision), u8(cls), u8(kind), meta)
    device = keyed_hash(b"", 16, b"kura1/old-item", item_id)
    return Lineage(mark, min(revision, 1 << 40), [(device, revision)], 0)


# --- Bodies -------------------------------------------------------------------------------------

def read_parts(data, cls):
    """(body without secret attributes, [(key, value)] or [(key, revision id, e, sealed)])"""
    need(len(data) >= 1, "no form")
    if data[0] != 6:
        return data, []
    need(len(data) <= MAX_BODY, "body too long")
    reader = Reader(data[1:])
    body = reader.take(reader.u32())
    need(body and body[0] < 6, "body inside")
    if cls == 0:
        secrets = [(reader.take(reader.u16()), reader.take(reader.u32()))
                   for _ in range(reader.u16())]
        total = sum(len(key) + len(value) for key, value in secrets)
    else:
        secrets = [(reader.take(reader.u16()), reader.take(16), reader.take(32),
                    reader.take(reader.u32())) for _ in range(reader.u16())]
        need(all(len(sealed) >= 74 + len(key) for key, _, _, sealed in secrets), "seal too short")
        total = sum(len(sealed) - 74 for *_, sealed in secrets)
    reader.end()
    ascending([secret[0] for secret in secrets], "keys")
    need(1 <= len(secrets) <= 256 and total <= MAX_PART, "secret attributes")
    for secret in secrets:
        check_attribute(secret[0], secret[1] if cls == 0 else b"")
    return body, secrets


def parts_bytes(body, secrets):
    if not secrets:
        return body
    out = u8(6) + u32(len(body)) + body + u16(len(secrets))
    for key, *middle, last in secrets:
        out += u16(len(key)) + key + b"".join(middle) + u32(len(last)) + last
    return out


def read_purge(data):
    """(vector, [(class, lineage)])"""
    reader = Reader(data)
    need(reader.u8() == 7, "form")
    vector = read_vector(reader)
    sides = [(reader.u8(), Lineage.read(reader)) for _ in range(reader.u8())]
    reader.end()
    need(len(sides) <= 255 and all(cls <= 1 for cls, _ in sides), "sides")
    ascending([lineage.id for _, lineage in sides], "sides")
    return vector, sides


def purge_bytes(vector, sides):
    return u8(7) + vector_bytes(vector) + u8(len(sides)) \
        + b"".join(u8(cls) + lineage.encode() for cls, lineage in sides)


# --- Ring, devices, journal, root ---------------------------------------------------------------

@dataclass
class Ledger:
    """What layout 3 of the ring has behind the notes."""
    machine: bytes
    epoch: bytes
    slots: list             # (lineage, [(slot id, kind, device, counter)])
    settings: list          # (key, [(lineage, value)])
    waiting: list           # (header, key, protected half)
    halves: list            # (public half, e, sealed)

    @staticmethod
    def read(reader):
        ledger = Ledger(reader.take(16), reader.take(16), [], [], [], [])
        for _ in range(reader.u8()):
            lineage = Lineage.read(reader)
            slots = [(reader.take(16), reader.u8(), reader.take(16), reader.u64())
                     for _ in range(reader.u8())]
            ledger.slots.append((lineage, slots))
        for _ in range(reader.u8()):
            key = reader.u8()
            sides = [(Lineage.read(reader), reader.u64()) for _ in range(reader.u8())]
            ledger.settings.append((key, sides))
        ledger.waiting = [tuple(reader.take(reader.u16()) for _ in range(3))
                          for _ in range(reader.u8())]
        ledger.halves = [(reader.take(32), reader.take(32), reader.take(104))
                         for _ in range(reader.u8())]
        ledger.check()
        return ledger

    def check(self):
        need(len(self.slots) <= 255 and len(self.waiting) <= 64 and len(self.halves) <= 16, "count")
        ascending([lineage.id for lineage, _ in self.slots], "sides")
        for _, slots in self.slots:
            need(1 <= len(slots) <= 64, "slots of a side")
            ascending([slot[0] for slot in slots], "slots")
            need(all(kind in (1, 2, 3, 6) and 1 <= n <= TOP for _, kind, _, n in slots), "slot")
        ascending([key for key, _ in self.settings], "settings")
        for _, sides in self.settings:
            need(1 <= len(sides) <= 255, "sides of a setting")
            ascending([lineage.id for lineage, _ in sides], "sides")
        need(all(len(header) >= 48 for header, *_ in self.waiting), "waiting slot")
        ascending([half[0] for half in self.halves], "former halves")

    def encode(self):
        out = self.machine + self.epoch + u8(len(self.slots))
        for lineage, slots in self.slots:
            out += lineage.encode() + u8(len(slots))
            out += b"".join(i + u8(kind) + device + u64(n) for i, kind, device, n in slots)
        out += u8(len(self.settings))
        for key, sides in self.settings:
            out += u8(key) + u8(len(sides))
            out += b"".join(lineage.encode() + u64(value) for lineage, value in sides)
        out += u8(len(self.waiting))
        out += b"".join(u16(len(c)) + c for columns in self.waiting for c in columns)
        return out + u8(len(self.halves)) + b"".join(b"".join(half) for half in self.halves)


def read_ring(data):
    """(ring, ledger): the ring's front is that of layout 2, in which there may be no note."""
    need(len(data) <= MAX_RING, "ring too long")
    need(data[:1] == b"\x03", "layout")
    reader = Reader(data)
    end = ring_end(reader)
    notes = data[end]
    front = bytes([2 if notes else 1]) + data[1:reader.at if notes else end]
    ring = Ring.decode(front)
    ledger = Ledger.read(reader)
    reader.end()
    return ring, ledger


def ring_end(reader):
    """Where the notes begin; the reader stands behind them then."""
    reader.take(1)
    reader.take(45 * reader.u16() + 32 + 17)
    reader.take(9 * reader.u16())
    end = reader.at
    for _ in range(reader.u8()):
        reader.take(25)
        reader.take(reader.u16())
        reader.take(reader.u16())
    return end


def ring_bytes(ring, ledger):
    front = ring.encode()
    return b"\x03" + front[1:] + (b"" if ring.notes else b"\0") + ledger.encode()


def read_at(reader):
    """Which head of a device: (number, id), 0 and zeros for none."""
    number, id = reader.u64(), reader.take(16)
    need(number <= TOP and (number == 0) == (id == bytes(16)), "at")
    return number, id


def at_bytes(at):
    return u64(at[0]) + at[1]


def read_devices(data):
    """[(id, flags, time, epoch id, heard, taken, complete, removed at, kept, key, label)]"""
    reader = Reader(data)
    need(reader.u8() == 1, "layout")
    devices = [(reader.take(16), reader.u8(), reader.u64(), reader.take(16), read_at(reader),
                read_at(reader), reader.u64(), reader.u64(), reader.take(16), reader.take(32),
                reader.take(reader.u16()))
               for _ in range(reader.u16())]
    reader.end()
    need(1 <= len(devices) <= 1024, "count")
    ascending([device[0] for device in devices], "devices")
    for _, flags, _, _, _, _, complete, removed, _, key, label in devices:
        need(flags < 4, "flags")
        need(flags & 1 or not any(key), "a key that is not known")
        need(flags & 2 or not removed, "a device that was not removed")
        need(max(complete, removed) <= TOP, "counter")
        check_stored_text(label, 0, 64)
    return devices


def devices_bytes(devices):
    out = u8(1) + u16(len(devices))
    for device, flags, time, epoch, heard, taken, complete, removed, kept, key, label in devices:
        out += device + u8(flags) + u64(time) + epoch + at_bytes(heard) + at_bytes(taken)
        out += u64(complete) + u64(removed) + kept + key + u16(len(label)) + label
    return out


def read_journal(data):
    """[(counter, revision id, item id)] of one row"""
    need(len(data) % 40 == 0 and 40 <= len(data) <= 64 * 40, "length")
    reader = Reader(data)
    records = [(reader.u64(), reader.take(16), reader.take(16)) for _ in range(len(data) // 40)]
    ascending([0] + [counter for counter, *_ in records], "counters")
    need(records[-1][0] <= TOP, "counter")
    return records


def journal_bytes(records):
    return b"".join(u64(counter) + revision + item for counter, revision, item in records)


def journal_head(root_key, records):
    head = bytes(32)
    for record in records:
        head = keyed_hash(root_key, 32, b"\x06", head, journal_bytes([record]))
    return head


def read_root(data):
    """A dictionary of what format 2 has in the root, and `front`, which is as in format 1."""
    reader = Reader(data)
    front = (reader.u64(), reader.u64(), reader.u64(), reader.u8())
    reader.zeros(7)
    digests = reader.take(96)
    device, counter = reader.take(16), reader.u64()
    reader.zeros(8)
    tail = (reader.take(16), reader.u64())
    head, count = reader.take(32), reader.u64()
    reader.end()
    epoch, items, deleted, depth = front
    need(epoch and deleted <= items and 1 <= depth <= 3, "fields")
    need(any(device) and counter <= TOP and bool(count) == any(head), "device or journal")
    return {"front": front, "digests": digests, "device": device, "counter": counter,
            "tail": tail, "head": head, "count": count}


def root_bytes(root):
    epoch, items, deleted, depth = root["front"]
    writer, time = root["tail"]
    return u64(epoch) + u64(items) + u64(deleted) + u8(depth) + bytes(7) + root["digests"] \
        + root["device"] + u64(root["counter"]) + bytes(8) + writer + u64(time) + root["head"] \
        + u64(root["count"])


# --- By name, for the vectors -------------------------------------------------------------------

RECORDS = {
    "meta": lambda data: Trail.decode(data).encode(),
    "body": lambda data: parts_bytes(*read_parts(data, 0)),
    "protected": lambda data: parts_bytes(*read_parts(data, 1)),
    "purge": lambda data: purge_bytes(*read_purge(data)),
    "ring": lambda data: ring_bytes(*read_ring(data)),
    "devices": lambda data: devices_bytes(read_devices(data)),
    "journal": lambda data: journal_bytes(read_journal(data)),
    "root": lambda data: root_bytes(read_root(data)),
}
