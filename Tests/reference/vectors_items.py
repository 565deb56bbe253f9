# SPDX-License-Identifier: MIT
"""Faults in the tree, in item rows, histories, chunks and loose values."""

from dataclasses import replace

import kura_format as fmt
from kura_format import ZERO32, pad, seal, u16, u32, u64
from kura_record import Meta, Row
from make_vectors import fault, text
from vectors_good import resealed_root, sealed_row
from vector_file import pattern

TOKEN, MAIL, USER = b"com.example.juice/token", b"mail/mary", b"com.example.juice/userIdentifier"

# --- The tree, by somebody without a key --------------------------------------------------------

FIRST = "(SELECT min(number) FROM bucket)"
LAST = "(SELECT max(number) FROM bucket)"
TOP = "id = 0"
for name, expect, note, sql in (
        ("node-missing", "tree/node", "the top node deleted", "DELETE FROM node;"),
        ("node-flipped", "tree/node", "a digest changed", "UPDATE node SET digests = zeroblob(32) "
         "|| x'01' || substr(digests, 34);"),
        ("node-short", "tree/node", "a node of 2,047 bytes",
         "UPDATE node SET digests = substr(digests, 1, 2047);"),
        ("node-stray", "tree/stray", "a node outside the tree",
         "INSERT INTO node SELECT 4294967296, digests FROM node;"),
        ("bucket-missing", "tree/bucket", "a bucket deleted",
         f"DELETE FROM bucket WHERE number = {FIRST};"),
        ("bucket-leaf", "tree/bucket", "a leaf changed", "UPDATE bucket SET leaves = "
         f"substr(leaves, 1, 44) || zeroblob(4) || substr(leaves, 49) WHERE number = {FIRST};"),
        ("bucket-tag", "tree/bucket", "a tag changed", "UPDATE bucket SET leaves = "
         f"substr(leaves, 1, 12) || zeroblob(4) || substr(leaves, 17) WHERE number = {FIRST};"),
        ("bucket-leaf-twice", "tree/bucket", "a leaf twice",
         f"UPDATE bucket SET leaves = leaves || leaves WHERE number = {FIRST};"),
        ("bucket-short", "tree/bucket", "a length that is no multiple of 48",
         f"UPDATE bucket SET leaves = substr(leaves, 1, 47) WHERE number = {FIRST};"),
        ("bucket-empty", "tree/bucket", "a bucket emptied",
         f"UPDATE bucket SET leaves = x'' WHERE number = {FIRST};"),
        ("bucket-exchanged", "tree/bucket", "two buckets exchanged",
         f"UPDATE bucket SET number = {FIRST} + {LAST} - number + 1000 WHERE number IN "
         f"({FIRST}, {LAST}); UPDATE bucket SET number = number - 1000 WHERE number >= 1000;"),
        ("bucket-stray", "tree/stray", "a bucket outside the tree",
         f"INSERT INTO bucket SELECT 64, leaves FROM bucket WHERE number = {FIRST};"),
        ("bucket-planted", "tree/bucket", "a bucket where the tree has none",
         f"INSERT INTO bucket SELECT 63 - {FIRST}, leaves FROM bucket WHERE number = {FIRST};")):
    text("tree-" + name, expect, note, sql)


def rehashed(vault, number, leaves, **changes):
    """A bucket with these leaves, and a tree and root over it that agree."""
    tree_root = vault.tree.store_bucket(vault.root.depth, number, leaves)
    resealed_root(vault, tree_root=tree_root, **changes)


@fault("tree/bucket", "leaves out of order, under a tree that agrees", on="depth-2")
def tree_bucket_order(vault):
    number = vault.db.execute("SELECT number FROM bucket").fetchone()[0]
    leaf = vault.tree.leaves(number)
    tag = bytes([leaf[0], leaf[1] & 0xF0]) + bytes(14)
    rehashed(vault, number, leaf + tag + ZERO32, items=4)


@fault("tree/bucket", "a tag that belongs to another bucket, under a tree that agrees")
def tree_bucket_foreign(vault):
    first, last = vault.db.execute("SELECT min(number), max(number) FROM bucket").fetchone()
    rehashed(vault, first, vault.tree.leaves(first) + vault.tree.leaves(last))


# --- Rows, by somebody without a key ------------------------------------------------------------

for name, expect, note, sql in (
        ("deleted", "tree/row-missing", "a row deleted",
         "DELETE FROM item WHERE tag = (SELECT min(tag) FROM item);"),
        ("duplicated", "tree/stray", "a row copied to a tag of its own",
         "INSERT INTO item SELECT CAST(substr(tag, 1, 12) || x'00000000' AS BLOB), id, revision, "
         "generation, class, kind, history, meta, body FROM item "
         "WHERE tag = (SELECT min(tag) FROM item);"),
        ("overwritten", "tree/leaf", "a row copied over another's",
         "UPDATE item SET (id, revision, generation, class, kind, history, meta, body) = "
         "(SELECT id, revision, generation, class, "
         "kind, history, meta, body FROM item o WHERE o.tag = (SELECT max(tag) FROM item)) "
         "WHERE tag = (SELECT min(tag) FROM item);"),
        ("revision", "tree/leaf", "another revision number", "UPDATE item SET revision = 2;"),
        ("generation", "tree/leaf", "another generation", "UPDATE item SET generation = 2;"),
        ("class", "tree/leaf", "another class", "UPDATE item SET class = 1;"),
        ("kind", "tree/leaf", "marked deleted", "UPDATE item SET kind = 1;"),
        ("id", "tree/leaf", "another item id", "UPDATE item SET id = zeroblob(16);"),
        ("history", "tree/leaf", "a planted history column",
         "UPDATE item SET history = zeroblob(40);"),
        ("meta-nonce", "tree/leaf", "meta's first bytes changed",
         "UPDATE item SET meta = zeroblob(8) || substr(meta, 9);"),
        ("meta-tag", "tree/leaf", "meta's last bytes changed",
         "UPDATE item SET meta = substr(meta, 1, length(meta) - 8) || zeroblob(8);"),
        ("body-tag", "tree/leaf", "body's last bytes changed",
         "UPDATE item SET body = substr(body, 1, length(body) - 8) || zeroblob(8);"),
        ("body-short", "tree/leaf", "a body shorter than a seal",
         "UPDATE item SET body = substr(body, 1, 71);"),
        ("body-empty", "tree/leaf", "a body of no bytes", "UPDATE item SET body = x'';"),
        ("body-cut", "item/body", "a body cut in the middle, its ends kept",
         "UPDATE item SET body = substr(body, 1, 100) || substr(body, 140);"),
        ("body-middle", "item/body", "a body's ciphertext changed, its ends kept",
         "UPDATE item SET body = substr(body, 1, 100) || zeroblob(8) || substr(body, 109);"),
        ("meta-middle", "item/meta", "meta's ciphertext changed, its ends kept", "UPDATE item SET "
         "meta = substr(meta, 1, 100) || zeroblob(8) || substr(meta, 109);")):
    text("row-" + name, expect, note, sql)


def exchange(column):
    def bend(vault):
        first, second = (vault.file.item(vault.tag(name)) for name in (TOKEN, MAIL))
        mine, other = getattr(first, column), getattr(second, column)
        setattr(first, column, other)
        setattr(second, column, mine)
        vault.file.store_item(first)
        vault.file.store_item(second)
    bend.__name__ = f"row-{column}-exchanged"
    fault("tree/leaf", f"two rows' {column} exchanged")(bend)


for each in ("tag", "id", "meta", "body"):
    exchange(each)


@fault("tree/leaf", "an earlier row put back: row, meta and body, but not the tree")
def row_rolled_back(vault):
    earlier = vault.file.item(vault.tag(MAIL))
    vault.put(MAIL, b"newer")
    vault.file.store_item(earlier)


@fault("tree/bucket", "an earlier row put back with its bucket")
def row_rolled_back_with_bucket(vault):
    earlier, number = vault.file.item(vault.tag(MAIL)), fmt.u8(vault.tag(MAIL)[0])[0] >> 2
    leaves = vault.tree.leaves(number)
    vault.put(MAIL, b"newer")
    vault.file.store_item(earlier)
    vault.db.execute("UPDATE bucket SET leaves = ? WHERE number = ?", (leaves, number))


@fault("tree/node", "an earlier row put back with its bucket and node")
def row_rolled_back_with_path(vault):
    earlier, number = vault.file.item(vault.tag(MAIL)), vault.tag(MAIL)[0] >> 2
    leaves, node = vault.tree.leaves(number), vault.tree.node(0, 0)
    vault.put(MAIL, b"newer")
    vault.file.store_item(earlier)
    vault.db.execute("UPDATE bucket SET leaves = ? WHERE number = ?", (leaves, number))
    vault.db.execute("UPDATE node SET digests = ?", (node,))


@fault("tree/leaf", "a row of another vault under this one's tag")
def row_other_vault(vault):
    row = sealed_row(vault, MAIL, b"foreign")
    vault.file.store_item(row)


# --- Records, under a tree that agrees ----------------------------------------------------------


def rewritten(vault, row):
    """Stores a row with a tree and a root that agree, so that only the record can object."""
    with vault.change():
        vault.store_row(row, vault.file.item(row.tag))


def record_fault(name, expect, note, bend_row):
    """`bend_row(vault, row)` bends the row of mail/mary; its plaintexts come along."""
    def bend(vault):
        row = vault.row(vault.tag(MAIL))
        rewritten(vault, bend_row(vault, row) or row)
    bend.__name__ = name
    fault(expect, note)(bend)


def with_meta(name, note, make, expect="item/meta"):
    """A row whose meta plaintext is `make(meta)`: a Meta or bytes."""
    def bend_row(vault, row):
        made = make(vault.meta(row))
        raw = made if isinstance(made, bytes) else made.encode()
        return vault.seal_row(row, None, b"\0" + vault.value(row), raw_meta=raw)
    record_fault("meta-" + name, expect, note, bend_row)


def raw_meta(meta, name=None, attributes=b"\0\0"):
    name = meta.name if name is None else name
    head = b"\x01" + u64(meta.created) + u64(meta.modified) + u64(meta.size)
    return head + u16(len(name)) + name + attributes


def pairs(*keys):
    return u16(len(keys)) + b"".join(u16(len(k)) + k + u32(1) + b"v" for k in keys)


with_meta("layout", "another layout", lambda m: b"\x02" + m.encode()[1:])
with_meta("trailing", "bytes after the attributes", lambda m: m.encode() + b"\1")
with_meta("cut", "cut in the name", lambda m: m.encode()[:30])
with_meta("empty", "an empty plaintext", lambda m: b"")
with_meta("name-of-another", "a name that is not this tag's", lambda m: replace(m, name=TOKEN))
with_meta("name-length", "a name longer than the meta",
          lambda m: m.encode()[:25] + u16(900) + m.encode()[27:])
with_meta("attributes-order", "attributes not ascending",
          lambda m: raw_meta(m, attributes=pairs(b"b", b"a")))
with_meta("attributes-twice", "an attribute twice",
          lambda m: raw_meta(m, attributes=pairs(b"a", b"a")))
with_meta("attributes-count", "more attributes than there are",
          lambda m: raw_meta(m, attributes=u16(2) + pairs(b"a")[2:]))
with_meta("attribute-length", "an attribute of 4 GiB",
          lambda m: raw_meta(m, attributes=u16(1) + u16(1) + b"a" + u32(2**32 - 1) + b"v"))
with_meta("long", "meta over 64 KiB",
          lambda m: replace(m, attributes={b"a": bytes(65536)}))
with_meta("size-most", "a size over 2^40", lambda m: replace(m, size=2**40 + 1))
for attribute, attribute_note, key, value in (
        ("key-empty", "an attribute without a key", b"", b"v"),
        ("key-long", "a key of 256 bytes", b"k" * 256, b"v"),
        ("key-equals", "a key with an equals sign", b"a=b", b"v"),
        ("key-control", "a key with a line end", b"a\nb", b"v"),
        ("key-utf8", "a key that is not UTF-8", b"\xe9", b"v"),
        ("key-not-composed", "a key that is not NFC", "e\u0301".encode(), b"v"),
        ("value-nul", "a value with a NUL", b"k", b"a\0b"),
        ("value-utf8", "a value that is not UTF-8", b"k", b"\xff")):
    with_meta("attribute-" + attribute, attribute_note,
              lambda m, k=key, v=value: replace(m, attributes={k: v}))
with_meta("attributes-257", "257 attributes",
          lambda m: replace(m, attributes={b"%d" % n: b"" for n in range(257)}))


def named(name, note, raw_name):
    """An item whose tag agrees with a name that breaks a rule."""
    def bend(vault):
        tag = fmt.keyed_hash(vault.keys.name, 16, raw_name)
        row = Row(tag, vault.source.bytes(16), 1, 1, 0, 0, b"", b"", b"")
        meta = raw_meta(Meta(1, 1, 1, b""), raw_name)
        with vault.change():
            vault.store_row(vault.seal_row(row, None, b"\0v", raw_meta=meta))
    bend.__name__ = "name-" + name
    fault("item/meta", note)(bend)


named("empty", "a name of no bytes", b"")
named("long", "a name of 1,025 bytes", b"n" * 1025)
named("utf8", "a name that is not UTF-8", b"caf\xe9")
named("overlong", "an overlong UTF-8 form", b"a\xc0\xafb")
named("surrogate", "a surrogate in UTF-8", b"\xed\xa0\x80")
named("nul", "a NUL in the name", b"a\0b")
named("control", "a control character", b"a\x1bb")
named("control-c1", "a C1 control character", "a\u0085b".encode())
named("not-composed", "a name that is not NFC", "cafe\u0301".encode())
named("dot", "a component of one dot", b"a/./b")
named("dots", "a component of two dots", b"../a")
named("slash-first", "a leading slash", b"/a")
named("slash-last", "a trailing slash", b"a/")
named("slashes", "an empty component", b"a//b")


def with_body(name, note, padded, expect="item/body"):
    """A row whose padded body plaintext is `padded(vault, row)`."""
    def bend_row(vault, row):
        return vault.seal_row(row, vault.meta(row), None, body_padded=padded(vault, row))
    record_fault("body-" + name, expect, note, bend_row)


with_body("form-2", "a form nobody knows", lambda v, r: pad(b"\x02" + v.value(r)))
with_body("no-form", "no form byte", lambda v, r: pad(b""))
with_body("padding-none", "no end mark",
          lambda v, r: b"\0" + v.value(r) + bytes(255 - len(v.value(r))))
with_body("padding-garbage", "bytes after the end mark",
          lambda v, r: pad(b"\0" + v.value(r))[:-1] + b"\x7f")
with_body("padding-short", "padded to no multiple of 256",
          lambda v, r: b"\0" + v.value(r) + b"\x80")
with_body("padding-long", "256 bytes of padding too many",
          lambda v, r: pad(b"\0" + v.value(r)) + bytes(256))
with_body("unpadded-empty", "a plaintext of no bytes", lambda v, r: None or b"\0" * 256)
with_body("size", "another value than meta's size says", lambda v, r: pad(b"\0longer" + v.value(r)),
          expect="item/size")


@fault("item/body", "a value of 65,537 bytes in the row itself", on="longest-inline")
def body_too_long(vault):
    row = vault.row(vault.tag(b"inline"))
    rewritten(vault, vault.seal_row(row, vault.meta(row), b"\0" + pattern(65537)))


@fault("item/size", "a deleted item that has a value", on="history")
def body_of_deleted(vault):
    row = vault.row(vault.tag(b"web/gone"))
    rewritten(vault, vault.seal_row(row, vault.meta(row), b"\0v"))


def other_row(vault, name=TOKEN):
    return vault.row(vault.tag(name))


def swap_body(vault, row):
    row.body = other_row(vault).body


def swap_meta(vault, row):
    row.meta = other_row(vault).meta


def swap_both(vault, row):
    row.meta, row.body = row.body, row.meta


record_fault("body-of-another", "item/body", "another item's body, under a tree that agrees",
             swap_body)
record_fault("meta-of-another", "item/meta", "another item's meta, under a tree that agrees",
             swap_meta)
record_fault("meta-and-body-exchanged", "item/meta", "meta and body exchanged", swap_both)
record_fault("row-generation-unknown", "item/generation", "a generation that the ring lacks",
             lambda v, r: replace(r, generation=9))
record_fault("row-revision-0", "item/row", "revision 0, under a tree that agrees",
             lambda v, r: v.seal_row(replace(r, revision=0), v.meta(r), b"\0" + v.value(r)))
record_fault("row-class-2", "item/row", "a class nobody knows, under a tree that agrees",
             lambda v, r: v.seal_row(replace(r, cls=2), v.meta(r), b"\0" + v.value(r)))
record_fault("row-kind-9", "item/row", "a kind nobody knows, under a tree that agrees",
             lambda v, r: v.seal_row(replace(r, kind=9), v.meta(r), b"\0" + v.value(r)))
for field_name, value in (("generation", 0), ("cls", 1), ("id", bytes(16)),
                          ("revision", 9)):
    record_fault(f"row-unbound-{field_name}", "item/generation" if field_name == "generation" else
                 "item/meta", f"records sealed for another {field_name} than the row's",
                 lambda v, r, n=field_name, x=value: replace(r, **{n: x}))


@fault("item/body", "the body of an earlier revision, under a tree that agrees", on="history")
def body_of_earlier(vault):
    row = vault.row(vault.tag(b"web/mary"))
    row.body = vault.file.old_item(row.id, 2).body
    rewritten(vault, row)


@fault("item/meta", "a record sealed for another vault id, under a tree that agrees")
def row_sealed_for_another_vault(vault):
    row, meta = other_row(vault, MAIL), vault.meta(other_row(vault, MAIL))
    real, vault.vault_id = vault.vault_id, bytes(16)
    vault.seal_row(row, meta, b"\0foreign")
    vault.vault_id = real
    rewritten(vault, row)
