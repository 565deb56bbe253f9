# SPDX-License-Identifier: MIT
"""States that only whoever has the key can make: each refused, or taken, as the page says.

What has no key at all, but is taken or refused for a reason of its own, stands here, too.
"""

from dataclasses import replace

import kura_format as fmt
from kura_format import KEY_FILE, PASSCODE, SlotHeader, seal, u64
from kura_protected import protect
from kura_record import Meta, Row
from make_vectors import PASSCODE as TYPED, base, fault, text
from vector_file import pattern
from vectors_good import KEY, OTHER, resealed_root, sealed_row
from vectors_items import MAIL, rewritten

OTHER_PAIR = fmt.sodium.crypto_box_seed_keypair(bytes(range(32)))
URI = b"otpauth://totp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

# --- The file -----------------------------------------------------------------------------------

text("good-schema-order", "ok", "the tables made in another order, as by who copied them",
     "DROP TABLE loose; CREATE TABLE loose (value BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;")
text("header-empty", "file/not-a-vault", "a header of no bytes",
     "UPDATE part SET data = x'' WHERE id = 0;")
text("header-magic-alone", "header/damaged", "a header of its magic alone",
     "UPDATE part SET data = substr(data, 1, 4) WHERE id = 0;")

# --- Slots --------------------------------------------------------------------------------------


def add_raw(vault, number, header, key, protected):
    vault.db.execute("INSERT INTO slot VALUES (?, ?, ?, ?)", (number, header, key, protected))


def later_header(vault, kind, length=48):
    return bytes([kind]) + vault.source.bytes(length - 1)


@base("slots of later releases, of any length there may be")
def slots_later(vault):
    for number, (kind, header, key, protected) in enumerate((
            (5, 48, 584, 104), (6, 51, 72, 0), (8, 300, 0, 71), (255, 48, 1, 65536),
            (5, 65536, 65536, 103), (200, 48, 328, 104)), 3):
        add_raw(vault, number, later_header(vault, kind, header), vault.source.bytes(key),
                vault.source.bytes(protected))
    resealed_root(vault)
    vault.put(b"a", b"1")


for name, note, lengths in (
        ("header-short", "47 bytes of header", (47, 1, 1)),
        ("header-long", "65,537 bytes of header", (65537, 1, 1)),
        ("key-long", "65,537 bytes of key", (48, 65537, 1)),
        ("protected-long", "65,537 bytes of protected half", (48, 1, 65537))):
    text("slot-later-" + name, "slot/damaged", "a slot of a later release: " + note,
         "INSERT INTO slot VALUES (9, CAST(x'08' || zeroblob(%d) AS BLOB), zeroblob(%d), "
         "zeroblob(%d));" % (lengths[0] - 1, *lengths[1:]))
text("slot-key-long", "slot/damaged", "a passcode's key of 584 bytes",
     "UPDATE slot SET key = zeroblob(584) WHERE number = 0;")
text("slot-protected-short", "slot/damaged", "a protected half of 103 bytes",
     "UPDATE slot SET protected = zeroblob(103) WHERE number = 0;")


@fault("slot/damaged", "a recovery key without the protected half, under a root that agrees")
def slot_without_half(vault):
    vault.db.execute("UPDATE slot SET protected = x'' WHERE number = 1")
    resealed_root(vault)


@fault("slot/damaged", "a protected half that does not open, under a root that agrees")
def slot_half_flipped(vault):
    vault.db.execute("UPDATE slot SET protected = zeroblob(104) WHERE number = 0")
    resealed_root(vault)


def half_of(vault, secret):
    """Slot 0's protected half sealed anew over another secret half."""
    header, = vault.db.execute("SELECT header FROM slot WHERE number = 0").fetchone()
    _, key = fmt.slot_keys(SlotHeader.decode(header).secret(TYPED), vault.vault_id, header)
    sealed = seal(key, b"\x02" + vault.vault_id + header, secret, vault.source.bytes(24))
    vault.db.execute("UPDATE slot SET protected = ? WHERE number = 0", (sealed,))
    resealed_root(vault)


@fault("ring/damaged", "a slot that holds the secret half of another pair")
def slot_half_other(vault):
    half_of(vault, OTHER_PAIR[1][:32])


@fault("ring/damaged", "a ring with the public half of another pair", on="protected")
def ring_other_pair(vault):
    vault.ring.protected_public = OTHER_PAIR[0]
    vault.store_ring()
    resealed_root(vault)


def costly(vault, number, **cost):
    """A passcode slot that nobody can open, of this cost."""
    fields = {"passes": 17, "memory": 8192, **cost}
    header = SlotHeader(PASSCODE, 1, fields["passes"], fields["memory"], vault.source.bytes(16),
                        vault.source.bytes(16)).encode()
    add_raw(vault, number, header, vault.source.bytes(328), vault.source.bytes(104))
    resealed_root(vault)


@fault("ok", "beside the passcode's slot one that costs too much")
def good_slot_costly_beside(vault):
    costly(vault, 2)
    costly(vault, 3, passes=1, memory=1 << 40)


@fault("slot/kdf-refused", "a wrong passcode, beside a slot that costs too much",
       passcode_hex=OTHER.hex())
def slot_wrong_or_costly(vault):
    costly(vault, 2)


@base("no passcode and no recovery key: a key file alone", secret={"key-file-hex": KEY.hex()})
def slot_key_file_alone(vault):
    vault.add_slot(1, KEY_FILE, KEY)
    vault.db.execute("DELETE FROM slot WHERE number = 0")
    resealed_root(vault)


@fault("ok", "two slots of one id")
def good_slot_id_twice(vault):
    header, key, half = vault.db.execute("SELECT header, key, protected FROM slot "
                                         "WHERE number = 0").fetchone()
    add_raw(vault, 7, header, key, half)
    resealed_root(vault)


@fault("ok", "a note of no slot, and one whose label is not the slot's")
def good_slot_notes_other(vault):
    slot = vault.file.slots()[0][1][32:]
    vault.ring.notes = sorted([(slot, 7, 0, b"another label", b""), (bytes(16), 7, 0, b"", b"")])
    vault.store_ring()
    resealed_root(vault)


# --- Ring and root ------------------------------------------------------------------------------


@fault("ok", "several data keys and a cursor without a work; the active key is an older one")
def good_ring_idle_keys(vault):
    number, _, created, key = vault.ring.generations[0]
    vault.ring.generations = [(number, 1, created, key), (9, 2, created, vault.source.bytes(32))]
    vault.ring.work, vault.ring.cursor = 0, b"\x80" + bytes(15)
    vault.store_ring()
    resealed_root(vault)


@fault("ok", "the first epoch, with a fingerprint before it")
def good_root_first_with_previous(vault):
    resealed_root(vault, epoch=1)


# --- Items --------------------------------------------------------------------------------------


@base("what one-time codes are made of, and what is none all the same")
def otp(vault):
    for name, value in ((b"code", URI), (b"longest", b"x" * 4096), (b"none", b"hello")):
        with vault.change():
            vault.store_row(sealed_row(vault, name, value, kind=2))


@fault("item/meta", "an item of one-time codes with 4,097 bytes", on="otp")
def otp_long(vault):
    row = vault.row(vault.tag(b"code"))
    value = pattern(4097)
    rewritten(vault, vault.seal_row(row, replace(vault.meta(row), size=4097), b"\0" + value))


@fault("item/meta", "an item of one-time codes with a value in chunks", on="chunked")
def otp_chunked(vault):
    row = vault.row(vault.tag(b"large"))
    meta, manifest = vault.meta(row), vault.body(row)[1]
    rewritten(vault, vault.seal_row(replace(row, kind=2), meta, manifest.encode()))


@fault("item/meta", "a deleted item with a value size", on="history")
def deleted_size(vault):
    row = vault.row(vault.tag(b"web/gone"))
    rewritten(vault, vault.seal_row(row, replace(vault.meta(row), size=1), b"\0"))


def bent_protected(vault, name, size, plain, kind):
    row = vault.row(vault.tag(name))
    meta, row = replace(vault.meta(row), size=size), replace(row, kind=kind)
    body = protect(plain, vault.ring.protected_public, vault.vault_id, row.id, row.revision,
                   vault.source)
    rewritten(vault, vault.seal_row(row, meta, body))


@fault("item/meta", "a protected item of one-time codes that is too long", on="protected-kept")
def protected_otp_long(vault):
    bent_protected(vault, b"secret", 4097, b"\0" + pattern(4097), 2)


@fault("item/meta", "the same, to who cannot look inside", on="protected-unread")
def protected_otp_unread(vault):
    bent_protected(vault, b"secret", 4097, b"\0" + pattern(4097), 2)


@fault("item/meta", "a protected item that is deleted and has a value", on="protected-history")
def protected_deleted_size(vault):
    bent_protected(vault, b"gone", 1, b"\0v", 1)


@fault("tree/leaf", "a revision that SQLite has as a number below 0")
def row_revision_high(vault):
    revision = (1 << 63) + 5
    row = replace(vault.row(vault.tag(MAIL)), revision=revision)
    value = vault.value(vault.row(row.tag))
    vault.seal_row(row, vault.meta(vault.row(row.tag)), b"\0" + value)
    resealed_root(vault, tree_root=vault.tree.update(vault.root, row.tag,
                                                     row.leaf(vault.keys.tree)))
    vault.file.store_item(replace(row, revision=revision - (1 << 64)))


@fault("ok", "two items of one id")
def good_item_id_twice(vault):
    other = vault.row(vault.tag(MAIL))
    row = sealed_row(vault, b"twin", b"twin", id=other.id)
    with vault.change():
        vault.store_row(row)


@fault("ok", "an attribute's key with dots and slashes: it is no name")
def good_attribute_key_path(vault):
    vault.put(MAIL, b"v", {b"../a//": b"1"})


# --- History ------------------------------------------------------------------------------------


def kept(vault, name, revision, **changes):
    """(row with an entry for another kept revision, that revision's row), both stored."""
    row = vault.row(vault.tag(name))
    meta, value = vault.meta(row), vault.value(row)
    old = Row(row.tag, row.id, revision, row.generation, changes.get("cls", row.cls), 0, b"", b"", b"")
    vault.seal_row(old, meta, vault.sealed_inside(old, b"\0" + value))
    vault.file.store_old_item(old)
    entries = [(n, leaf) for n, leaf in vault.history(row) if n != revision]
    entries = sorted(entries + [(revision, old.leaf(vault.keys.tree, in_history=True))])
    rewritten(vault, replace(row, history=b"".join(u64(n) + leaf for n, leaf in entries)))


@fault("history/column", "the current revision in its own history, with a row that is right",
       on="history")
def history_current(vault):
    kept(vault, b"web/mary", 4)


@fault("history/column", "a later revision in the history, with a row that is right", on="history")
def history_later(vault):
    kept(vault, b"web/mary", 9)


@fault("history/row", "an earlier revision of another class", on="history")
def history_class(vault):
    kept(vault, b"web/mary", 2, cls=1)


@fault("history/column", "1,025 earlier revisions, of which none is there", on="history")
def history_1025(vault):
    row = replace(vault.row(vault.tag(b"web/mary")), revision=2000)
    value, meta = b"\0v", Meta(1, 1, 1, b"web/mary")
    vault.seal_row(row, meta, value)
    rewritten(vault, replace(row, history=b"".join(u64(n) + bytes(32) for n in range(1, 1026))))


# --- Tree and loose values ----------------------------------------------------------------------


@fault("tree/node", "a node without children that has a row and a digest", on="depth-2")
def tree_node_zero(vault):
    free = next(n for n in range(64) if not any(vault.tree.node(0, 0)[32 * n:32 * n + 32]))
    vault.db.execute("INSERT INTO node VALUES (?, zeroblob(2048))", (1 << 32 | free,))
    digest = fmt.keyed_hash(vault.keys.tree, 32, b"\x02", vault.vault_id, b"\x02\x01",
                            fmt.u32(free), bytes(2048))
    top = bytearray(vault.tree.node(0, 0))
    top[32 * free:32 * free + 32] = digest
    resealed_root(vault, tree_root=vault.tree.store_node(2, 0, 0, bytes(top)))


text("tree-node-inside", "tree/stray", "a node where the tree has none, by somebody without a key",
     "INSERT INTO node SELECT (1 << 32) + n, (SELECT digests FROM node WHERE id > 0 LIMIT 1) FROM "
     "(SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3) WHERE (1 << 32) + n NOT IN "
     "(SELECT id FROM node) LIMIT 1;", on="depth-2")
text("loose-short", "loose/damaged", "a loose value of 3 bytes", "INSERT INTO loose VALUES (x'010203');")
text("good-loose-planted", "ok", "a loose value and chunks of it, by somebody without a key",
     "INSERT INTO loose VALUES (zeroblob(16)); "
     "INSERT INTO chunk VALUES (zeroblob(16), 0, zeroblob(73)), (zeroblob(16), 77, zeroblob(73));")
