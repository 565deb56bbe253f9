# SPDX-License-Identifier: MIT
"""A vault: create, open, read and write in format 1, every read proved by the tree."""

import sqlite3
from contextlib import contextmanager
from dataclasses import replace

from nacl import bindings as sodium

import kura_format as fmt
from kura_format import (CHUNK_SIZE, HEADER, KEY_FILE, PASSCODE, RECOVERY_KEY, RING, ROOT, ZERO32,
                         Damaged, Keys, Refused, Ring, SlotHeader, Source, WrongKey, pad, seal,
                         unpad, unseal)
from kura_file import File
from kura_protected import Protected, protect
from kura_record import (Manifest, Meta, Root, Row, check_seen, fingerprint, header_digest,
                         newest_seen, read_history)
from kura_slots import credential, protected_half, seal_slot, unwrap
from kura_tree import Tree

HISTORY_DEPTH = 4


def opened(layer, error, key, ad, sealed, padded=True):
    """Opens a record; whatever is wrong with it is refused in the name of its layer."""
    try:
        message = unseal(key, ad, sealed)
        return unpad(message) if padded else message
    except (WrongKey, Damaged) as reason:
        raise Refused(layer, error, str(reason)) from None


def decoded(layer, error, decode, data):
    try:
        return decode(data)
    except Damaged as reason:
        raise Refused(layer, error, str(reason)) from None


class Vault:
    """An unlocked vault. Fields are plain on purpose: the vector generator bends them."""

    LAST_KIND = 2
    NEWEST = 1

    def __init__(self, file, keys, source):
        self.file, self.keys, self.source = file, keys, source
        self.db, self.vault_id = file.db, keys.vault_id
        self.tree = Tree(file.db, keys.tree, keys.vault_id)
        self.writer = source.bytes(16)
        self.ring, self.root = None, None
        self.protected_secret = None

    # --- Create and open ------------------------------------------------------------------------

    @staticmethod
    def create(path, passcode=None, recovery=None, source=None, kdf=(1, 8192), page_size=16384,
               is_earlier=False):
        """A new vault with a passcode slot 0 and, with 20 `recovery` bytes, a recovery slot 1."""
        source = source or Source()
        file = File.build(path, page_size, is_earlier)
        vault_id = source.bytes(16)
        vault = Vault(file, Keys(source.bytes(32), vault_id), source)
        public, vault.protected_secret = sodium.crypto_box_seed_keypair(source.bytes(32))
        vault.ring = Ring([(1, 1, source.time(), source.bytes(32))], public)
        file.db.execute("BEGIN")
        file.store_part(HEADER, b"KURA" + fmt.u16(1) + fmt.u16(0) + vault_id)
        if passcode is not None:
            vault.add_slot(0, PASSCODE, fmt.prepared_passcode(passcode), kdf)
        if recovery is not None:
            vault.add_slot(1, RECOVERY_KEY, recovery)
        vault.store_ring()
        vault.root = Root(0, 0, 0, 1, ZERO32, ZERO32, ZERO32, vault.writer, 0)
        vault.store_root(first=True)
        file.db.execute("COMMIT")
        return vault

    @classmethod
    def open(cls, path, passcode=None, recovery=None, source=None, seen=None, key_file=None,
             hardware=None):
        file = File.open(path, cls.NEWEST)
        try:
            vault_id = file.vault_id()
            slots = file.slots()
            kind, secret = credential(passcode, recovery, key_file, hardware)
            vault_key, half = unwrap(slots, kind, secret, vault_id)
            vault = cls(file, Keys(vault_key, vault_id), source or Source())
            vault.load(seen, half)
        except BaseException:
            file.close()
            raise
        return vault

    def load(self, seen=None, half=None):
        """Ring, root and header digest; then, if given, the slot's half and the seen file's 1,024 bytes."""
        self.ring = self.read_ring()
        self.root = self.read_root()
        if self.header_digest() != self.root.header_digest:
            raise Refused("root", "header-digest")
        if half is not None:
            self.protected_secret = protected_half(half, self.ring.protected_public)
        if seen is not None:
            mark = newest_seen(seen, self.keys.seen, self.vault_id)
            check_seen(mark, self.root.epoch, self.fingerprint())

    def add_slot(self, number, kind, secret, kdf=(0, 0), label=b"", with_protected=True):
        is_passcode = kind == PASSCODE
        header = SlotHeader(kind, int(is_passcode), kdf[0] if is_passcode else 0,
                            kdf[1] if is_passcode else 0, self.source.bytes(16),
                            self.source.bytes(16))
        blobs = seal_slot(self.keys, header.encode(), header.secret(secret),
                          self.protected_secret if with_protected else None, self.source,
                          self.source.time(), label)
        self.db.execute("INSERT INTO slot VALUES (?, ?, ?, ?)", (number, header.encode(), *blobs))

    # --- Parts ----------------------------------------------------------------------------------

    def read_ring(self):
        plain = opened("ring", "damaged", self.keys.ring, b"\x03" + self.vault_id,
                       self.file.part(RING, "ring"))
        return decoded("ring", "damaged", Ring.decode, plain)

    def store_ring(self, plain=None, padded=True):
        message = self.ring.encode() if plain is None else plain
        message = pad(message) if padded else message
        self.file.store_part(RING, seal(self.keys.ring, b"\x03" + self.vault_id, message,
                                        self.source.bytes(24)))

    def read_root(self):
        plain = opened("root", "damaged", self.keys.root, b"\x04" + self.vault_id,
                       self.file.part(ROOT, "root"), padded=False)
        return decoded("root", "damaged", Root.decode, plain)

    def store_root(self, first=False, **changes):
        """Seals the next root over header, ring and slots as they stand now."""
        previous = ZERO32 if first else self.fingerprint()
        self.root = replace(self.root, epoch=self.root.epoch + 1, previous=previous,
                            header_digest=self.header_digest(), writer=self.writer,
                            time=self.source.time())
        self.root = replace(self.root, **changes)
        self.store_root_plain(self.root.encode())

    def store_root_plain(self, plain):
        self.file.store_part(ROOT, seal(self.keys.root, b"\x04" + self.vault_id, plain,
                                        self.source.bytes(24)))

    def header_digest(self):
        slots = self.file.rows("SELECT number, header, key, protected FROM slot ORDER BY number")
        return header_digest(self.keys.root, self.file.part(HEADER, "header"),
                             self.file.part(RING, "ring"), slots)

    def fingerprint(self):
        return fingerprint(self.keys.tree, self.root.encode())

    # --- Reading --------------------------------------------------------------------------------

    def tag(self, name):
        return fmt.keyed_hash(self.keys.name, 16, fmt.normal_name(name))

    def row(self, tag):
        """The verified row of a tag, or None as a proved absence."""
        leaf = self.tree.verified_leaf(self.root, tag)
        if leaf is None:
            return None
        return self.checked_row(self.file.item(tag), leaf)

    def checked_row(self, row, leaf, layer="tree"):
        """`row` when it is the one its leaf in the tree or in a history column speaks of."""
        error = "leaf" if layer == "tree" else "row"
        if row is None:
            raise Refused(layer, "row-missing")
        if not row.fits_leaf() \
                or row.leaf(self.keys.tree, in_history=layer == "history") != leaf:
            raise Refused(layer, error)
        decoded("item", "row", lambda r: r.check_fields(self.LAST_KIND), row)
        if layer == "tree":
            self.history(row)
        return row

    def kept_row(self, row, number, leaf):
        """A row of the history, as its entry says and with the class of the current one."""
        old = self.checked_row(self.file.old_item(row.id, number), leaf, "history")
        if old.cls != row.cls:
            raise Refused("history", "row", "another class")
        return old

    def data_key(self, row):
        return decoded("item", "generation", self.ring.key, row.generation)

    def meta(self, row):
        plain = opened("item", "meta", self.data_key(row), row.meta_ad(self.vault_id), row.meta)
        meta = decoded("item", "meta", Meta.decode, plain)
        try:
            if fmt.keyed_hash(self.keys.name, 16, meta.name) != row.tag \
                    or fmt.normal_name(meta.name, ("Cc",)) != meta.name:
                raise Refused("item", "meta", "name of another tag")
        except Refused as reason:
            raise Refused("item", "meta", str(reason)) from None
        if meta.size > {1: 0, 2: 4096}.get(row.kind, meta.size):
            raise Refused("item", "meta", "a size that the kind does not have")
        return meta

    def body(self, row):
        """(bytes, None) of a small value or (None, manifest)."""
        plain = opened("item", "body", self.data_key(row), row.body_ad(self.vault_id), row.body)
        if row.cls == 1:
            plain = self.inside(row, decoded("item", "body", Protected.decode, plain))
        if not plain or plain[0] > 1:
            raise Refused("item", "body", "form")
        if plain[0] == 1:
            return None, decoded("item", "body", Manifest.decode, plain[1:])
        if len(plain) - 1 > CHUNK_SIZE:
            raise Refused("item", "body", "length")
        return plain[1:], None

    def protected(self, row):
        """The `Protected` of a row of class 1, without what is inside."""
        plain = opened("item", "body", self.data_key(row), row.body_ad(self.vault_id), row.body)
        return decoded("item", "body", Protected.decode, plain)

    def inside(self, row, body):
        """What a standard body would hold; takes the protected pair's secret half."""
        if self.protected_secret is None:
            raise Refused("item", "protected")
        if body.revision > row.revision:
            raise Refused("item", "body", "sealed for a later revision")
        return decoded("item", "body", lambda b: b.open(
            self.protected_secret, self.ring.protected_public, self.vault_id, row.id), body)

    def value(self, row):
        """The whole value, chunks and all, checked against the size in meta."""
        size, (value, manifest) = self.meta(row).size, self.body(row)
        if size != (manifest.length if manifest else len(value)):
            raise Refused("item", "size")
        if manifest:
            value = b"".join(self.chunk(manifest, i) for i in range(manifest.chunks))
        return value

    def chunk(self, manifest, index):
        sealed = self.file.chunk(manifest.value_id, index)
        if sealed is None:
            raise Refused("chunk", "missing", str(index))
        data = opened("chunk", "damaged", manifest.value_key, manifest.chunk_ad(index), sealed,
                      padded=False)
        if len(data) != manifest.chunk_length(index):
            raise Refused("chunk", "damaged", f"{index} length")
        return data

    def get(self, name, revision=None):
        """(meta, value) of a live item, or of one of its kept revisions."""
        row = self.row(self.tag(name))
        if row and revision not in (None, row.revision):
            row = self.old_row(row, revision)
        if row is None or row.kind == 1:
            raise Refused("item", "not-found")
        return self.meta(row), self.value(row)

    def history(self, row):
        return decoded("history", "column", lambda c: read_history(c, row.revision), row.history)

    def old_row(self, row, revision):
        for number, leaf in self.history(row):
            if number == revision:
                return self.kept_row(row, number, leaf)
        return None

    def list(self):
        """Every item's (row, meta), deleted ones too, in tag order, bucket by verified bucket."""
        numbers = [n for (n,) in self.file.rows("SELECT number FROM bucket ORDER BY number")]
        for number in numbers:
            for tag in self.tree.verified_leaves(self.root, number):
                row = self.row(tag)
                yield row, self.meta(row)

    # --- Writing --------------------------------------------------------------------------------

    @contextmanager
    def change(self):
        """One transaction over a fresh root; whatever happens inside is undone on an error."""
        self.db.execute("BEGIN IMMEDIATE")
        before = self.ring, self.root
        try:
            self.load()
            yield self
            self.db.execute("COMMIT")
        except BaseException:
            self.ring, self.root = before
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    def seal_row(self, row, meta, body, raw_meta=None, meta_padded=None, body_padded=None):
        """Seals meta (`Meta`) and body (plaintext) into the row; `raw…` and `…padded` bend it."""
        key = self.data_key(row)
        meta_plain = meta_padded or pad(meta.encode() if raw_meta is None else raw_meta)
        row.meta = seal(key, row.meta_ad(self.vault_id), meta_plain, self.source.bytes(24))
        row.body = seal(key, row.body_ad(self.vault_id), body_padded or pad(body),
                        self.source.bytes(24))
        return row

    def store_row(self, row, old=None):
        """Stores a row and everything above it in the open transaction."""
        self.file.store_item(row)
        tree_root = self.tree.update(self.root, row.tag, row.leaf(self.keys.tree))
        items = self.root.items + (old is None)
        deleted = self.root.deleted + (row.kind in (1, 3)) - (old is not None and old.kind == 1)
        depth = self.root.depth
        if items > 4096 * 64 ** (depth - 1) and depth < 3:
            depth, leaves = depth + 1, {}
            for (number,) in self.file.rows("SELECT number FROM bucket"):
                blob = self.tree.leaves(number)
                leaves |= {blob[i:i + 16]: blob[i + 16:i + 48] for i in range(0, len(blob), 48)}
            tree_root = self.tree.rebuild(depth, leaves)
        self.store_root(items=items, deleted=deleted, depth=depth, tree_root=tree_root)

    def next_row(self, tag, old, kind=0):
        """The next revision's row, with the old one moved into the history."""
        row = Row(tag, old.id if old else self.source.bytes(16), old.revision + 1 if old else 1,
                  self.ring.active, old.cls if old else 0, kind, b"", b"", b"")
        if old:
            entries = self.history(old)
            self.file.store_old_item(old)
            entries.append((old.revision, old.leaf(self.keys.tree, in_history=True)))
            keep = self.ring.policy.get(HISTORY_DEPTH, 10)
            first = max(0, len(entries) - keep)
            dropped, entries = entries[:first], entries[first:]
            row.history = b"".join(fmt.u64(n) + leaf for n, leaf in entries)
            for number, _ in dropped:
                self.drop(old.id, number)
        return row

    def drop(self, item_id, revision):
        """Deletes a history row; its value becomes loose unless another revision shares it."""
        row = self.file.old_item(item_id, revision)
        value_id = None
        if row.cls == 1:
            value_id = self.protected(row).value_id
        elif row.kind != 1 and (manifest := self.body(row)[1]):
            value_id = manifest.value_id
        self.db.execute("DELETE FROM history WHERE item = ? AND revision = ?", (item_id, revision))
        if value_id:
            self.db.execute("INSERT OR IGNORE INTO loose VALUES (?)", (value_id,))

    def sealed_inside(self, row, plain):
        """A body as a row of its class holds it."""
        if row.cls == 0:
            return plain
        return protect(plain, self.ring.protected_public, self.vault_id, row.id, row.revision,
                       self.source)

    def put(self, name, value, attributes=None, cls=0):
        name = fmt.normal_name(name)
        with self.change():
            tag, now = self.tag(name), self.source.time()
            old = self.row(tag)
            meta = self.meta(old) if old else Meta(now, now, 0, name)
            row = self.next_row(tag, old)
            row.cls = max(row.cls, cls)
            body = b"\0" + value if len(value) <= CHUNK_SIZE else self.store_chunks(value).encode()
            meta = Meta(meta.created, now, len(value), name,
                        meta.attributes if attributes is None else attributes)
            self.store_row(self.seal_row(row, meta, self.sealed_inside(row, body)), old)
        return row.revision

    def store_chunks(self, value):
        manifest = Manifest(len(value), -(-len(value) // CHUNK_SIZE), self.source.bytes(16),
                            self.source.bytes(32))
        for i in range(manifest.chunks):
            data = seal(manifest.value_key, manifest.chunk_ad(i),
                        value[i * CHUNK_SIZE:(i + 1) * CHUNK_SIZE], self.source.bytes(24))
            self.db.execute("INSERT INTO chunk VALUES (?, ?, ?)", (manifest.value_id, i, data))
        return manifest

    def remove(self, name):
        with self.change():
            old = self.row(self.tag(name))
            if old is None or old.kind == 1:
                raise Refused("item", "not-found")
            meta = replace(self.meta(old), modified=self.source.time(), size=0)
            row = self.next_row(old.tag, old, kind=1)
            self.store_row(self.seal_row(row, meta, self.sealed_inside(row, b"\0")), old)

    def close(self):
        try:
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.DatabaseError:
            pass
        self.file.close()
