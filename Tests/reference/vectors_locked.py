# SPDX-License-Identifier: MIT
"""Faults in what a reader meets before the first item: file, schema, header, slots, ring, root."""

from dataclasses import replace

import kura_format as fmt
from kura_format import GIB, PASSCODE, RING, ROOT, SlotHeader, pad, seal, u16, u64
from kura_record import Root
from make_vectors import PASSCODE as TYPED, fault, text
from two_keys import colliding_block
from vectors_good import OTHER, TEXT, resealed_root

# --- The file and its schema --------------------------------------------------------------------

text("file-empty", "file/not-a-vault", "a file of no bytes", "", file_hex="")
text("file-text", "file/not-a-vault", "a text file", "", file_hex=(b"hello\n" * 200).hex())
text("file-sqlite-head", "file/not-a-vault", "the first 16 bytes of a database", "",
     file_hex=b"SQLite format 3\0".hex())
text("file-application-id", "file/not-a-vault", "another program's database",
     "PRAGMA application_id = 1;")
text("file-application-id-zero", "file/not-a-vault", "a database without an application id",
     "PRAGMA application_id = 0;")
text("file-user-version-3", "file/newer-format", "a newer format", "PRAGMA user_version = 3;")
text("file-user-version-0", "file/not-a-vault", "no format at all", "PRAGMA user_version = 0;")
text("file-user-version-negative", "file/not-a-vault", "a negative format",
     "PRAGMA user_version = -1;")
for name, note, sql in (
        ("trigger", "a planted trigger", "CREATE TRIGGER spy AFTER INSERT ON item BEGIN "
         "DELETE FROM history; END;"),
        ("view", "a planted view", "CREATE VIEW spy AS SELECT * FROM item;"),
        ("table", "a planted table", "CREATE TABLE spy (id INTEGER PRIMARY KEY) STRICT;"),
        ("virtual-table", "a planted virtual table", "CREATE VIRTUAL TABLE spy USING fts5(a);"),
        ("index", "a planted index", "CREATE INDEX spy ON item (id);"),
        ("statistics", "the table that ANALYZE makes", "ANALYZE;"),
        ("table-missing", "a table too few", "DROP TABLE loose;"),
        ("column-added", "a column too many", "ALTER TABLE part ADD COLUMN extra BLOB;"),
        ("not-strict", "a table that is not STRICT", "DROP TABLE loose; "
         "CREATE TABLE loose (value BLOB PRIMARY KEY) WITHOUT ROWID;"),
        ("constraint", "a CHECK that runs code at each write", "DROP TABLE loose; "
         "CREATE TABLE loose (value BLOB PRIMARY KEY CHECK (length(value) > 0)) STRICT, "
         "WITHOUT ROWID;"),
        ("text", "a schema text that differs in one space", "DROP TABLE loose; "
         "CREATE TABLE loose (value  BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;")):
    text("schema-" + name, "file/schema", note, sql)
text("part-stray", "file/stray", "a part nobody knows", "INSERT INTO part VALUES (3, x'00');")

# --- Header -------------------------------------------------------------------------------------

for name, expect, note, sql in (
        ("missing", "header/damaged", "no header", "DELETE FROM part WHERE id = 0;"),
        ("magic", "file/not-a-vault", "another magic", "UPDATE part SET data = CAST('KURB' AS BLOB) "
         "|| substr(data, 5) WHERE id = 0;"),
        ("format-3", "header/newer-format", "format 3 in the header", "UPDATE part SET data = "
         "substr(data, 1, 4) || x'0300' || substr(data, 7) WHERE id = 0;"),
        ("format-0", "header/damaged", "format 0 in the header", "UPDATE part SET data = "
         "substr(data, 1, 4) || x'0000' || substr(data, 7) WHERE id = 0;"),
        ("reserved", "header/damaged", "reserved bytes that are not zero", "UPDATE part SET data = "
         "substr(data, 1, 6) || x'0100' || substr(data, 9) WHERE id = 0;"),
        ("short", "header/damaged", "one byte short", "UPDATE part SET data = "
         "substr(data, 1, 23) WHERE id = 0;"),
        ("long", "header/damaged", "one byte long", "UPDATE part SET data = data || x'00' "
         "WHERE id = 0;"),
        ("vault-id", "slot/wrong-passcode", "another vault id: no key fits any more",
         "UPDATE part SET data = substr(data, 1, 8) || zeroblob(16) WHERE id = 0;")):
    text("header-" + name, expect, note, sql)

# --- Slots: what is refused before any derivation -----------------------------------------------


def slot_header(**fields):
    """Slot 0's header bytes with other fields, as SQL."""
    header = SlotHeader(PASSCODE, 1, 1, 8192, bytes(16), bytes(16))
    data = replace(header, **fields).encode()
    return f"UPDATE slot SET header = x'{data.hex()}' WHERE number = 0;"


text("slot-none", "slot/none", "no slot at all", "DELETE FROM slot;")
text("slot-number-16", "slot/damaged", "a slot number beyond 15",
     "UPDATE slot SET number = 16 WHERE number = 1;")
text("slot-number-negative", "slot/damaged", "a slot number below 0",
     "UPDATE slot SET number = -1 WHERE number = 1;")
text("slot-header-short", "slot/damaged", "a header of 47 bytes",
     "UPDATE slot SET header = substr(header, 1, 47);")
text("slot-header-long", "slot/damaged", "a header of 49 bytes",
     "UPDATE slot SET header = header || x'00';")
text("slot-reserved", "slot/damaged", "reserved bytes that are not zero",
     "UPDATE slot SET header = substr(header, 1, 2) || x'0001' || substr(header, 5);")
text("slot-kind-0", "slot/damaged", "a slot of no kind", slot_header(kind=0))
text("slot-kind-8", "slot/no-such-slot", "a slot of a kind nobody knows, in the passcode's place",
     slot_header(kind=8))
text("slot-kind-7-not-sealed", "slot/damaged", "a disabled slot that says more of itself than its id",
     slot_header(kind=7))
text("slot-kind-4-without-kdf", "slot/damaged", "a short code without Argon2id",
     slot_header(kind=4, kdf=0, passes=0, memory=0))
text("slot-kdf-2", "slot/damaged", "a derivation nobody knows", slot_header(kdf=2))
text("slot-passcode-without-kdf", "slot/damaged", "a passcode without Argon2id",
     slot_header(kdf=0, passes=0, memory=0))
text("slot-cost-without-kdf", "slot/damaged", "a recovery key with Argon2id's costs",
     slot_header(kind=2, kdf=0))
for name, expect, passes, memory in (
        ("passes-0", "damaged", 0, 8192), ("passes-17", "kdf-refused", 17, 8192),
        ("passes-most", "kdf-refused", 2**32 - 1, 8192), ("memory-0", "damaged", 1, 0),
        ("memory-8191", "damaged", 1, 8191), ("memory-7168", "damaged", 1, 7168),
        ("memory-odd", "damaged", 1, 8193), ("memory-over-2gib", "kdf-refused", 1, 2 * GIB + 1024),
        ("memory-4tib", "kdf-refused", 1, 2**42), ("memory-most", "damaged", 1, 2**64 - 1),
        ("product", "kdf-refused", 5, 2 * GIB)):
    text("slot-kdf-" + name, "slot/" + expect, f"hostile costs: {passes} passes, {memory} bytes",
         slot_header(passes=passes, memory=memory))
text("slot-17", "slot/too-many", "17 slots",
     "INSERT INTO slot SELECT 16, header, key, protected FROM slot WHERE number = 15;",
     on="slots-16")
text("slot-argon2-5", "slot/too-many", "five slots with Argon2id",
     "UPDATE slot SET header = (SELECT header FROM slot WHERE number = 0) WHERE number = 15;",
     on="slots-16")

# --- Slots: what no credential opens ------------------------------------------------------------

text("slot-wrong-passcode", "slot/wrong-passcode", "a passcode that is no slot's", "",
     passcode_hex=OTHER.hex())
text("slot-wrong-recovery-key", "slot/wrong-passcode", "a recovery key that is no slot's", "",
     recovery_key=fmt.recovery_text(bytes(20)))
text("slot-no-such-slot", "slot/no-such-slot", "a key file, where no slot takes one", "",
     key_file_hex=bytes(32).hex())
text("slot-key-file-short", "slot/key-file-short", "a key file of 31 bytes", "", on="slots",
     key_file_hex=bytes(31).hex())
text("slot-passcode-case", "slot/wrong-passcode", "a passcode is never folded", "",
     passcode_hex=TYPED.upper().hex())
text("slot-swapped", "slot/wrong-passcode", "keys of two slots exchanged",
     "UPDATE slot SET key = (SELECT key FROM slot s WHERE s.number = 1 - slot.number) "
     "WHERE number = 0;")
for name, expect, note, start in (
        ("nonce", "slot/wrong-passcode", "its nonce", 1),
        ("commitment", "slot/wrong-passcode", "its commitment", 25),
        ("ciphertext", "slot/damaged", "its ciphertext", 57),
        ("tag", "slot/damaged", "the last 12 bytes of its tag", 317)):
    text("slot-" + name, expect, f"12 bytes of a slot's key replaced: {note}",
         f"UPDATE slot SET key = substr(key, 1, {start - 1}) || zeroblob(12) || "
         f"substr(key, {start + 12}) WHERE number = 0;")
text("slot-salt", "slot/wrong-passcode", "another salt", "UPDATE slot SET header = substr(header, "
     "1, 16) || zeroblob(16) || substr(header, 33) WHERE number = 0;")
text("slot-id", "slot/wrong-passcode", "another slot id: the key is bound to it",
     "UPDATE slot SET header = substr(header, 1, 32) || zeroblob(16) WHERE number = 0;")
text("slot-cheaper", "slot/wrong-passcode", "costs changed in the header",
     "UPDATE slot SET header = substr(header, 1, 4) || x'02000000' || substr(header, 9) "
     "WHERE number = 0;")
text("slot-short", "slot/damaged", "a key shorter than a seal",
     "UPDATE slot SET key = substr(key, 1, 71) WHERE number = 0;")


def reslot(vault, plain=None, padded=None, vault_id=None, secret=TYPED, number=0):
    """Seals slot 0's key anew over another plaintext or for another vault."""
    header, = vault.db.execute("SELECT header FROM slot WHERE number = ?", (number,)).fetchone()
    where = vault_id or vault.vault_id
    kek, _ = fmt.slot_keys(SlotHeader.decode(header).secret(secret), where, header)
    key = seal(kek, b"\x01" + where + header, padded or pad(plain), vault.source.bytes(24))
    vault.db.execute("UPDATE slot SET key = ? WHERE number = ?", (key, number))
    resealed_root(vault)


def bad_payload(name, note, make, padded=False):
    def bend(vault):
        payload = fmt.slot_payload(vault.keys.vault_key, 1, b"label")
        if padded:
            reslot(vault, padded=make(payload))
        else:
            reslot(vault, make(payload))
    bend.__name__ = "slot-" + name
    fault("slot/damaged", note)(bend)


bad_payload("trailing", "bytes after the label", lambda p: p + b"\0more")
bad_payload("label-long", "a label of 65 bytes", lambda p: p[:40] + u16(65) + b"l" * 65)
bad_payload("label-utf8", "a label that is not UTF-8", lambda p: p[:40] + u16(1) + b"\xff")
bad_payload("label-control", "a label with a line end", lambda p: p[:40] + u16(1) + b"\n")
bad_payload("label-not-composed", "a label that is not NFC",
            lambda p: p[:40] + u16(3) + "e\u0301".encode())
bad_payload("label-length", "a label longer than the payload", lambda p: p[:40] + u16(9) + b"l")
bad_payload("payload-short", "no room for the vault key", lambda p: p[:31])
bad_payload("padding-none", "a payload without the end mark", lambda p: p + bytes(256 - len(p)),
            padded=True)
bad_payload("padding-mark", "another end mark", lambda p: p + b"\x81" + bytes(255 - len(p)),
            padded=True)


@fault("slot/wrong-passcode", "a slot sealed for another vault id")
def slot_other_vault(vault):
    reslot(vault, fmt.slot_payload(vault.keys.vault_key, 1, b""), vault_id=bytes(16))


@fault("slot/wrong-passcode", "a key whose ciphertext opens under two passcodes (Len, Grubbs and "
       "Ristenpart 2021); only the commitment tells them apart", passcode_hex=OTHER.hex())
def slot_two_keys(vault):
    header, = vault.db.execute("SELECT header FROM slot WHERE number = 0").fetchone()
    fields, ad = SlotHeader.decode(header), b"\x01" + vault.vault_id + header
    keks = [fmt.slot_keys(fields.secret(s), vault.vault_id, header)[0] for s in (TYPED, OTHER)]
    nonce = vault.source.bytes(24)
    first, second = (fmt.one_use_key(kek, nonce, ad) for kek in keks)
    plain = pad(fmt.slot_payload(vault.keys.vault_key, 1, b"label"))
    box = colliding_block(first[0], second[0], ad, plain, block=0)
    for one_use in (first[0], second[0]):
        fmt.sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(box, ad, bytes(24), one_use)
    vault.db.execute("UPDATE slot SET key = ? WHERE number = 0", (nonce + first[1] + box,))


# --- Slots under the sealed root ----------------------------------------------------------------

text("slot-removed", "root/header-digest", "a slot deleted without the vault key",
     "DELETE FROM slot WHERE number = 1;")
text("slot-renumbered", "root/header-digest", "a slot moved to another number",
     "UPDATE slot SET number = 5 WHERE number = 1;")
text("slot-protected-emptied", "slot/damaged", "a slot's protected half removed",
     "UPDATE slot SET protected = x'' WHERE number = 0;")
text("slot-protected-damaged", "root/header-digest", "a slot's protected half changed",
     "UPDATE slot SET protected = substr(protected, 1, 100) || zeroblob(4) WHERE number = 0;")
text("slot-other-damaged", "root/header-digest", "the slot that was not asked is damaged",
     "UPDATE slot SET key = zeroblob(328) WHERE number = 1;")


@fault("root/header-digest", "an old passcode's slot put back", passcode_hex=OTHER.hex())
def slot_reverted(vault):
    vault.db.execute("DELETE FROM slot WHERE number = 0")
    vault.add_slot(0, PASSCODE, OTHER, (1, 8192))


@fault("root/header-digest", "an old slot put back at a free number", recovery_key=TEXT)
def slot_added(vault):
    vault.add_slot(6, PASSCODE, OTHER, (1, 8192))


@fault("root/header-digest", "an earlier key ring put back")
def ring_reverted(vault):
    vault.ring.policy = {1: 60000}
    vault.store_ring()


# --- Ring ---------------------------------------------------------------------------------------

text("ring-missing", "ring/damaged", "no key ring", "DELETE FROM part WHERE id = 1;")
text("ring-short", "ring/damaged", "a ring shorter than a seal",
     "UPDATE part SET data = substr(data, 1, 71) WHERE id = 1;")
text("ring-flipped", "ring/damaged", "ciphertext changed",
     "UPDATE part SET data = substr(data, 1, 100) || zeroblob(4) || substr(data, 105) "
     "WHERE id = 1;")
text("ring-root-exchanged", "ring/damaged", "ring and root exchanged",
     "UPDATE part SET data = (SELECT data FROM part p WHERE p.id = 3 - part.id) WHERE id = 1;")


def ring_fault(name, note, make, padded=True):
    """`make` gives the plaintext; the root's header digest agrees, so only the ring can object."""
    def bend(vault):
        vault.store_ring(make(vault.ring, vault), padded)
        resealed_root(vault)
    bend.__name__ = "ring-" + name
    fault("ring/damaged", note)(bend)


def with_states(*states):
    def make(ring, vault):
        ring.generations = [(n + 1, s, 1, bytes([n]) * 32) for n, s in enumerate(states)]
        return ring.encode()
    return make


ring_fault("without-active", "no active generation", with_states(2))
ring_fault("two-active", "two active generations", with_states(1, 1))
ring_fault("state-3", "a state nobody knows", with_states(1, 3))
ring_fault("no-generation", "no generation at all", with_states())
ring_fault("layout", "another layout", lambda r, _: b"\x02" + r.encode()[1:])


def with_notes(*notes):
    def make(ring, vault):
        ring.notes = [(bytes([slot]) * 16, 7, flags, label, place)
                      for slot, flags, label, place in notes]
        return ring.encode()
    return make


ring_fault("notes-order", "slot notes descending", with_notes((2, 0, b"", b""), (1, 0, b"", b"")))
ring_fault("notes-twice", "two notes of one slot", with_notes((1, 0, b"", b""), (1, 0, b"", b"")))
ring_fault("notes-flags", "a flag nobody knows", with_notes((1, 2, b"", b"")))
ring_fault("notes-label-control", "a label with a line end", with_notes((1, 0, b"a\n", b"")))
ring_fault("notes-label-long", "a label of 65 bytes", with_notes((1, 0, b"x" * 65, b"")))
ring_fault("notes-place-long", "a place of 1,025 bytes", with_notes((1, 0, b"", b"/" * 1025)))
ring_fault("notes-place-nul", "a place with a NUL", with_notes((1, 0, b"", b"/a\0b")))
ring_fault("notes-17", "17 slot notes", with_notes(*[(n, 0, b"", b"") for n in range(17)]))
ring_fault("notes-none", "layout 2 without notes",
           lambda r, _: b"\x02" + r.encode()[1:] + b"\0")
ring_fault("trailing", "bytes after the policy", lambda r, _: r.encode() + b"\0\1")
ring_fault("truncated", "fewer generations than it says",
           lambda r, _: r.encode()[:1] + u16(4) + r.encode()[3:])
ring_fault("work", "a work nobody knows", lambda r, _: replace(r, work=2).encode())
ring_fault("policy-order", "policy keys descending",
           lambda r, _: r.encode()[:-2] + u16(2) + b"\x02" + u64(9) + b"\x01" + u64(9))
ring_fault("policy-twice", "a policy key twice",
           lambda r, _: r.encode()[:-2] + u16(2) + (b"\x01" + u64(9)) * 2)
ring_fault("generation-twice", "a generation number twice",
           lambda r, _: replace(r, generations=[(1, n, 0, bytes(32)) for n in (1, 2)]).encode())
ring_fault("generation-0", "a generation 0",
           lambda r, _: replace(r, generations=[(0, 1, 0, bytes(32))]).encode())
ring_fault("generation-order", "generations descending",
           lambda r, _: replace(r, generations=[(n, n, 0, bytes(32)) for n in (2, 1)]).encode())
ring_fault("empty", "an empty plaintext", lambda r, _: b"")
ring_fault("padding", "no end mark", lambda r, _: r.encode() + bytes(-len(r.encode()) % 256), False)
ring_fault("padding-long", "256 bytes of padding too many",
           lambda r, _: pad(r.encode()) + bytes(256), False)


@fault("ring/damaged", "a ring sealed for another vault id")
def ring_other_vault(vault):
    ring = seal(vault.keys.ring, b"\x03" + bytes(16), pad(vault.ring.encode()), bytes(24))
    vault.file.store_part(RING, ring)
    resealed_root(vault)


# --- Root ---------------------------------------------------------------------------------------

text("root-missing", "root/damaged", "no root", "DELETE FROM part WHERE id = 2;")
text("root-short", "root/damaged", "a root shorter than a seal",
     "UPDATE part SET data = substr(data, 1, 71) WHERE id = 2;")
text("root-flipped", "root/damaged", "ciphertext changed",
     "UPDATE part SET data = substr(data, 1, 80) || x'00000000' || substr(data, 85) WHERE id = 2;")


def root_fault(name, expect, note, make):
    """`make` gives the whole root payload or the changes to its fields."""
    def bend(vault):
        made = make(vault.root.encode(), vault.root)
        if isinstance(made, dict):
            resealed_root(vault, **made)
        else:
            vault.store_root_plain(made)
    bend.__name__ = "root-" + name
    fault(expect, note)(bend)


root_fault("payload-short", "root/damaged", "223 bytes", lambda p, _: p[:-1])
root_fault("payload-long", "root/damaged", "225 bytes", lambda p, _: p + b"\0")
root_fault("payload-padded", "root/damaged", "a padded payload", lambda p, _: pad(p))
root_fault("epoch-0", "root/damaged", "epoch 0", lambda *_: {"epoch": 0})
root_fault("depth-0", "root/damaged", "a tree of no depth", lambda *_: {"depth": 0})
root_fault("depth-4", "root/damaged", "a tree deeper than 3", lambda *_: {"depth": 4})
root_fault("depth-255", "root/damaged", "a tree of depth 255", lambda *_: {"depth": 255})
root_fault("reserved", "root/damaged", "a reserved byte after the depth",
           lambda p, _: p[:25] + b"\1" + p[26:])
root_fault("reserved-end", "root/damaged", "a reserved byte at the end",
           lambda p, _: p[:-1] + b"\1")
root_fault("deleted-over-items", "root/damaged", "more deleted items than items",
           lambda _, r: {"deleted": r.items + 1})
root_fault("tree-root", "tree/node", "another tree's root",
           lambda *_: {"tree_root": bytes(31) + b"1"})
root_fault("header-digest", "root/header-digest", "another header digest",
           lambda *_: {"header_digest": bytes(32)})
root_fault("items", "tree/count", "one item more than there is",
           lambda _, r: {"items": r.items + 1})
root_fault("items-fewer", "tree/count", "one item fewer than there is",
           lambda _, r: {"items": r.items - 1})
root_fault("deleted", "tree/count", "a deleted item that is not there", lambda *_: {"deleted": 1})
root_fault("depth-2", "tree/node", "the right tree at another depth", lambda *_: {"depth": 2})


@fault("tree/node", "the root of an earlier epoch put back")
def root_rolled_back(vault):
    earlier = vault.file.part(ROOT, "root")
    vault.put(b"mail/mary", b"newer")
    vault.file.store_part(ROOT, earlier)


@fault("root/damaged", "a root sealed for another vault id")
def root_other_vault(vault):
    vault.file.store_part(ROOT, seal(vault.keys.root, b"\x04" + bytes(16), vault.root.encode(),
                                     bytes(24)))
