# SPDX-License-Identifier: MIT
"""A vault of format 2: taken over from format 1, and read and written as kura-format(5) says of both."""

from dataclasses import dataclass, replace

from nacl import bindings as sodium

import kura_format as fmt
from kura_file import JOURNAL, SHARING
from kura_format import (CHUNK_SIZE, HEADER, RING, ROOT, Damaged, Reader, Refused, keyed_hash, pad,
                         seal, u16, u32, unseal)
from kura_protected import CHUNKED_BY_ID, Protected, protect, shared_key
from kura_record import Manifest, Root, Row
from kura_remote import head_id
from kura_second import (Ledger, Lineage, Trail, devices_bytes, journal_bytes, journal_head, old_revision,
                         parts_bytes, purge_bytes, read_devices, read_journal, read_parts,
                         read_purge, read_ring, read_root, ring_bytes, root_bytes)
from kura_shared import memory_bytes, read_memory, read_value_place, value_place_bytes
from kura_vault import Vault, decoded, opened

DEVICES, REMOTE = 3, 4


@dataclass
class TakenRoot(Root):
    device: bytes = b""
    counter: int = 0
    head: bytes = bytes(32)
    count: int = 0

    def encode(self):
        return root_bytes({
            "front": (self.epoch, self.items, self.deleted, self.depth), "count": self.count,
            "digests": self.tree_root + self.header_digest + self.previous, "head": self.head,
            "device": self.device, "counter": self.counter, "tail": (self.writer, self.time)})

    @staticmethod
    def decode(data):
        root = read_root(data)
        parts = [root["digests"][at:at + 32] for at in (0, 32, 64)]
        return TakenRoot(*root["front"], *parts, *root["tail"], device=root["device"],
                         counter=root["counter"], head=root["head"], count=root["count"])


class TakenVault(Vault):
    LAST_KIND = 3
    NEWEST = 2
    ledger = None

    @staticmethod
    def take_over(vault, machine=bytes(16)):
        """The same vault in format 2; `vault` is used up."""
        taken = TakenVault(vault.file, vault.keys, vault.source)
        taken.protected_secret = vault.protected_secret
        vault.load()
        taken.db.execute("BEGIN IMMEDIATE")
        taken.db.execute(JOURNAL)
        taken.db.execute("PRAGMA user_version = 2")
        taken.file.version = 2
        taken.file.store_part(HEADER, b"KURA" + u16(2) + u16(0) + taken.vault_id)
        taken.ring, taken.ledger = vault.ring, Ledger(machine, bytes(16), [], [], [], [])
        taken.store_ring()
        before = vault.fingerprint()
        old = vault.root
        taken.root = TakenRoot(old.epoch, old.items, old.deleted, old.depth, old.tree_root,
                               old.header_digest, old.previous, old.writer, old.time,
                               device=taken.source.bytes(16))
        taken.store_root(previous=before)
        taken.db.execute("COMMIT")
        return taken

    # --- Parts ----------------------------------------------------------------------------------

    @property
    def sync_key(self):
        return keyed_hash(self.keys.vault_key, 32, b"kura1/sync" + self.vault_id)

    def read_ring(self):
        if self.file.version == 1:
            raise Refused("file", "damaged", "format 1")
        plain = opened("ring", "damaged", self.keys.ring, b"\x03" + self.vault_id,
                       self.file.part(RING, "ring"))
        ring, self.ledger = decoded("ring", "damaged", read_ring, plain)
        return ring

    def store_ring(self, plain=None, padded=True):
        super().store_ring(plain or ring_bytes(self.ring, self.ledger), padded)

    def read_root(self):
        plain = opened("root", "damaged", self.keys.root, b"\x04" + self.vault_id,
                       self.file.part(ROOT, "root"), padded=False)
        return decoded("root", "damaged", TakenRoot.decode, plain)

    def devices_part(self):
        rows = self.file.rows("SELECT data FROM part WHERE id = 3", shape="b")
        return rows[0][0] if rows else b""

    def devices(self):
        sealed = self.devices_part()
        if not sealed:
            return []
        plain = opened("devices", "damaged", self.sync_key, b"\x11" + self.vault_id, sealed)
        return decoded("devices", "damaged", read_devices, plain)

    # --- What a shared one remembers ------------------------------------------------------------

    def share(self, devices, memory, heads=(), places=()):
        """`heads` are (device, bytes), `places` (value id, place)."""
        with self.change():
            for statement in SHARING if not self.file.is_shared else []:
                self.db.execute(statement)
            self.file.is_shared = True
            for part, place, plain in ((DEVICES, b"\x11", devices_bytes(devices)),
                                       (REMOTE, b"\x19", memory_bytes(memory))):
                self.file.store_part(part, seal(self.sync_key, place + self.vault_id, pad(plain), self.source.bytes(24)))
            for device, head in heads:
                self.db.execute("INSERT OR REPLACE INTO head VALUES (?, ?)", (device, head))
            for value, place in places:
                self.db.execute("INSERT OR REPLACE INTO place VALUES (?, ?)", (value, seal(
                    self.sync_key, b"\x1a" + self.vault_id + value, pad(value_place_bytes(place)), self.source.bytes(24))))
            self.store_root()

    def remote_part(self):
        """None where the vault is not shared."""
        rows = self.file.rows("SELECT data FROM part WHERE id = 4", shape="b")
        return rows[0][0] if rows else None

    def remote(self):
        sealed = self.remote_part()
        if sealed is None:
            return None
        if not self.devices_part() or not self.file.is_shared:
            raise Refused("remote", "damaged", "alone")
        plain = opened("remote", "damaged", self.sync_key, b"\x19" + self.vault_id, sealed)
        return decoded("remote", "damaged", read_memory, plain)

    def heads(self):
        """The heads that are kept, each held against the id that vouches for it."""
        memory = self.remote()
        expected = {device: kept for device, *_, kept, _, _ in self.devices() if any(kept)}
        for standing in memory.pending if memory else []:
            expected[bytes(16)] = standing.at[1]
        rows = self.file.rows("SELECT device, data FROM head", shape="bb") if self.file.is_shared else []
        if {device: head_id(head) for device, head in rows} != expected:
            raise Refused("head", "damaged")
        return dict(rows)

    def places(self):
        """Where long values stand; nobody vouches for it."""
        found = {}
        for value, sealed in self.file.rows("SELECT value, data FROM place", shape="bb") if self.file.is_shared else []:
            plain = opened("place", "damaged", self.sync_key, b"\x1a" + self.vault_id + value, sealed)
            found[value] = decoded("place", "damaged", read_value_place, plain)
        return found

    def header_digest(self):
        header, ring, devices = self.file.part(HEADER, "header"), self.file.part(RING, "ring"), \
            self.devices_part()
        remote = self.remote_part()
        parts = [b"\x04" if remote is None else b"\x07"]
        for part in (header, ring, devices) + (() if remote is None else (remote,)):
            parts += [u32(len(part)), part]
        slots = self.file.rows("SELECT number, header, key, protected FROM slot ORDER BY number")
        parts.append(u16(len(slots)))
        for number, *blobs in slots:
            parts.append(bytes([number]))
            for blob in blobs:
                parts += [u32(len(blob)), blob]
        return keyed_hash(self.keys.root, 32, *parts)

    # --- Journal --------------------------------------------------------------------------------

    def journal(self):
        rows = self.file.rows("SELECT number, data FROM journal ORDER BY number", shape="ib")
        records = []
        for place, (number, sealed) in enumerate(rows, 1):
            ad = b"\x10" + self.vault_id + fmt.u64(number)
            plain = opened("journal", "damaged", self.sync_key, ad, sealed)
            more = decoded("journal", "damaged", read_journal, plain)
            if number != place or len(records) % 64:
                raise Refused("journal", "damaged", "rows")
            records += more
        if len(records) != self.root.count or journal_head(self.keys.root, records) \
                != self.root.head:
            raise Refused("journal", "damaged", "head")
        decoded("journal", "damaged", check_counters, records)
        return records

    def store_journal(self, records):
        """Writes the whole journal anew; who writes one record rewrites the last row alone."""
        self.db.execute("DELETE FROM journal")
        for at in range(0, len(records), 64):
            number = at // 64 + 1
            ad = b"\x10" + self.vault_id + fmt.u64(number)
            self.db.execute("INSERT INTO journal VALUES (?, ?)", (number, seal(
                self.sync_key, ad, pad(journal_bytes(records[at:at + 64])),
                self.source.bytes(24))))
        self.store_root(head=journal_head(self.keys.root, records), count=len(records))

    # --- Items ----------------------------------------------------------------------------------

    def purge_tag(self, item_id):
        return keyed_hash(self.keys.name, 16, b"\0", item_id)

    def meta(self, row):
        """A `Meta` of layout 1 or a `Trail` of layout 2."""
        plain = opened("item", "meta", self.data_key(row), row.meta_ad(self.vault_id), row.meta)
        if plain[:1] == b"\1" and row.kind != 3:
            return super().meta(row)
        trail = decoded("item", "meta", Trail.decode, plain)
        purged = row.kind == 3
        tag = self.purge_tag(row.id) if purged \
            else keyed_hash(self.keys.name, 16, trail.name)
        if tag != row.tag or purged == bool(trail.name):
            raise Refused("item", "meta", "name of another tag")
        if trail.size > {1: 0, 2: 4096, 3: 0}.get(row.kind, trail.size):
            raise Refused("item", "meta", "a size that the kind does not have")
        if trail.sides and trail.sides[-1] >= row.revision:
            raise Refused("item", "meta", "a side above the row")
        if row.kind in (0, 2) and not trail.fields[0] or row.kind == 1 and trail.secrets:
            raise Refused("item", "meta", "what the kind does not have")
        return trail

    def lineage(self, row):
        meta = self.meta(row)
        if isinstance(meta, Trail):
            return meta.lineage
        plain = opened("item", "meta", self.data_key(row), row.meta_ad(self.vault_id), row.meta)
        return old_revision(row.id, row.revision, row.cls, row.kind, plain)

    def first_stamp(self, meta, at):
        """The id of the revision that set the content of a field that stands here."""
        field = meta.fields[at]
        return meta.lineage.id if field[0] == 0 else meta.stamps[field[0] - 1][3]

    def parts(self, row):
        """(meta, body without secret attributes, secret attributes), each held against the other."""
        meta = self.meta(row)
        plain = opened("item", "body", self.data_key(row), row.body_ad(self.vault_id), row.body)
        body, secrets = decoded("item", "body", lambda p: read_parts(p, row.cls), plain)
        named = meta.secrets if isinstance(meta, Trail) else []
        if row.cls == 0:
            found = [(key, len(value)) for key, value in secrets]
        else:
            found = [(key, len(sealed) - 74 - len(key)) for key, _, _, sealed in secrets]
        if found != named:
            raise Refused("item", "body", "other secret attributes")
        return meta, body, secrets

    def protected(self, row):
        meta, body, _ = self.parts(row)
        last = CHUNKED_BY_ID if isinstance(meta, Trail) else 3
        inner = decoded("item", "body", lambda b: Protected.decode(b, last), body)
        # The id of a revision is that of the one that sealed it, which may be older than what brought it back.
        if not isinstance(inner.revision, bytes) and inner.revision > row.revision:
            raise Refused("item", "body", "sealed for a later revision")
        return inner

    def body(self, row):
        if row.cls == 0:
            plain = self.parts(row)[1]
        else:
            plain = self.inside(row, self.protected(row))
        if not plain or plain[0] > 1:
            raise Refused("item", "body", "form")
        if plain[0] == 1:
            return None, decoded("item", "body", Manifest.decode, plain[1:])
        if len(plain) - 1 > CHUNK_SIZE:
            raise Refused("item", "body", "length")
        return plain[1:], None

    def inside(self, row, body):
        if self.protected_secret is None:
            raise Refused("item", "protected")
        return decoded("item", "body", lambda b: b.open(
            self.protected_secret, self.ring.protected_public, self.vault_id, row.id), body)

    def secrets(self, row):
        """{key: value} of the secret attributes."""
        _, _, secrets = self.parts(row)
        if row.cls == 0:
            return dict(secrets)
        return {key: decoded("item", "body", self.opened_secret(row, key), rest)
                for key, *rest in secrets}

    def opened_secret(self, row, key):
        def read(rest):
            revision, ephemeral, sealed = rest
            ad = b"\x0f" + self.vault_id + row.id + revision
            public = self.ring.protected_public
            plain = unseal(shared_key(self.protected_secret, ephemeral, ephemeral, public), ad,
                           sealed)
            reader = Reader(plain)
            if reader.take(reader.u16()) != key:
                raise Damaged("another key")
            return plain[reader.at:]
        return read

    def purged(self, row):
        """(vector, sides) of a row of kind 3."""
        self.meta(row)
        if row.history:
            raise Refused("item", "row", "a purged item with a history")
        plain = opened("item", "body", self.data_key(row), row.body_ad(self.vault_id), row.body)
        return decoded("item", "body", read_purge, plain)

    def list(self):
        for row, meta in super().list():
            if row.kind != 3:
                yield row, meta

    # --- Writing --------------------------------------------------------------------------------

    def next_lineage(self, old):
        """What the next revision follows: the one that is there, if there is."""
        self.root = replace(self.root, counter=self.root.counter + 1)
        known = dict(self.lineage(old).vector) if old else {}
        known[self.root.device] = self.root.counter
        vector = sorted(known.items())
        depth = 1 + (self.lineage(old).depth if old else 0)
        own = [device for device, _ in vector].index(self.root.device)
        return Lineage(self.source.bytes(16), depth, vector, own)

    def put(self, name, value, attributes=None, cls=0, secrets=()):
        """Stores a short value; all fields are set anew, so that stamps are the revision's own."""
        name = fmt.normal_name(name)
        with self.change():
            now, old = self.source.time(), self.row(self.tag(name))
            before = self.meta(old) if old else None
            lineage = self.next_lineage(old)
            row = self.next_row(self.tag(name), old)
            row.cls = max(row.cls, cls)
            pairs = sorted((attributes or {}).items())
            secrets = sorted(dict(secrets).items())
            meta = Trail(before.created if before else now, now, len(value), name, pairs,
                         [(key, len(text)) for key, text in secrets], lineage, [],
                         [[0]] * (2 + len(pairs) + len(secrets)), [])
            body = b"\0" + value
            if row.cls == 1:
                public = self.ring.protected_public
                body = protect(body, public, self.vault_id, row.id, lineage.id, self.source)
                secrets = [self.sealed_secret(row, lineage.id, *pair) for pair in secrets]
            self.store_row(self.seal_row(row, meta, parts_bytes(body, secrets)), old)
        return row.revision

    def sealed_secret(self, row, revision, key, text):
        ephemeral, secret = sodium.crypto_box_seed_keypair(self.source.bytes(32))
        public = self.ring.protected_public
        ad = b"\x0f" + self.vault_id + row.id + revision
        sealed = seal(shared_key(secret, public, ephemeral, public), ad,
                      u16(len(key)) + key + text, self.source.bytes(24))
        return key, revision, ephemeral, sealed

    def purge(self, name):
        """Drops an item without chunks and leaves what keeps it from coming back."""
        with self.change():
            old = self.row(self.tag(name))
            lineage = self.next_lineage(old)
            row = Row(self.purge_tag(old.id), old.id, old.revision + 1, self.ring.active, old.cls,
                      3, b"", b"", b"")
            now = self.source.time()
            meta = Trail(now, now, 0, b"", [], [], lineage, [], [[], []], [])
            covered = [(d, n) for d, n in self.lineage(old).vector]
            self.seal_row(row, meta, purge_bytes(covered, []))
            self.db.execute("DELETE FROM history WHERE item = ?", (old.id,))
            self.db.execute("DELETE FROM item WHERE tag = ?", (old.tag,))
            tree_root = self.tree.update(self.root, old.tag, None)
            self.root = replace(self.root, items=self.root.items - 1, tree_root=tree_root,
                                deleted=self.root.deleted - (old.kind == 1))
            self.store_row(row)


def check_counters(records):
    if any(a[0] >= b[0] for a, b in zip(records, records[1:])):
        raise Damaged("counters")
