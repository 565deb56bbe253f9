# SPDX-License-Identifier: MIT
"""Protected items: sealed inside for the pair, and what can be wrong with that."""

from dataclasses import replace

import kura_format as fmt
from kura_format import KEY_FILE
from kura_protected import Protected, protect
from kura_record import Row
from make_vectors import base, fault, text
from vectors_good import KEY, resealed_root
from vector_file import item_line, pattern

@base("a protected item beside a standard one: read with the passcode afresh")
def protected(vault):
    vault.put(b"plain", b"1")
    vault.put(b"secret", b"hidden", {b"user": b"mary"}, cls=1)
    vault.put(b"nothing", b"", cls=1)


@base("protected items, opened with a key file that does not hold the secret half",
      secret={"key-file-hex": KEY.hex()})
def protected_unread(vault):
    vault.add_slot(5, KEY_FILE, KEY, with_protected=False)
    resealed_root(vault)
    vault.put(b"plain", b"1")
    vault.put(b"secret", b"hidden", cls=1)
    vault.put(b"large", pattern(131_073), cls=1)
    vault.protected_secret = None


@base("a protected value in chunks, and one of the longest that has none")
def protected_large(vault):
    vault.put(b"large", pattern(131_073), cls=1)
    vault.put(b"longest inline", pattern(65_536), cls=1)


@base("a protected item with a history: deleted, and stored anew")
def protected_history(vault):
    vault.put(b"secret", b"one", cls=1)
    vault.put(b"secret", pattern(70_000), cls=1)
    vault.put(b"secret", b"three")
    vault.remove(b"secret")
    vault.put(b"secret", b"five")
    vault.put(b"gone", b"one", cls=1)
    vault.remove(b"gone")


@base("attributes changed of a protected item: what is inside was sealed for an earlier revision")
def protected_kept(vault):
    vault.put(b"secret", b"hidden", cls=1)
    with vault.change():
        old = vault.row(vault.tag(b"secret"))
        body, row = vault.protected(old), vault.next_row(old.tag, old)
        meta = replace(vault.meta(old), attributes={b"user": b"mary"})
        vault.store_row(vault.seal_row(row, meta, body.encode()), old)


def protected_row(vault, bend, name=b"secret"):
    """Bends what the data key seals of a protected row, under a tree that agrees."""
    with vault.change():
        row = vault.row(vault.tag(name))
        body = vault.protected(row)
        made = bend(vault, row, body) or body
        plain = made if isinstance(made, bytes) else made.encode()
        vault.store_row(vault.seal_row(row, vault.meta(row), plain), row)


def protected_fault(name, note, bend, expect="item/body", on="protected", item=b"secret"):
    def bent(vault):
        protected_row(vault, bend, item)
    bent.__name__ = "protected-" + name
    fault(expect, note, on=on)(bent)


def resealed_inside(vault, row, public=None, vault_id=None, item_id=None, revision=None,
                    plain=b"\0hidden", said=None):
    body = Protected.decode(protect(
        plain, public or vault.ring.protected_public, vault_id or vault.vault_id,
        item_id or row.id, revision or row.revision, vault.source))
    body.revision = said or row.revision
    return body


def of_another(vault, row, body):
    other = Row(b"", vault.source.bytes(16), 1, 1, 1, 0, b"", b"", b"")
    return resealed_inside(vault, other)


OTHER_PAIR = fmt.sodium.crypto_box_seed_keypair(bytes(range(32)))[0]
for name, note, bend in (
        ("pair", "sealed inside for another pair",
         lambda v, r, b: resealed_inside(v, r, public=OTHER_PAIR)),
        ("item", "sealed inside for another item", of_another),
        ("vault", "sealed inside for another vault",
         lambda v, r, b: resealed_inside(v, r, vault_id=bytes(16))),
        ("revision", "sealed inside for another revision than it says",
         lambda v, r, b: resealed_inside(v, r, revision=7)),
        ("later", "sealed inside for a revision that is not there yet",
         lambda v, r, b: resealed_inside(v, r, revision=2, said=2)),
        ("revision-0", "sealed inside for revision 0", lambda v, r, b: replace(b, revision=0)),
        ("form", "a form that there is not", lambda v, r, b: b"\4" + b.encode()[1:]),
        ("cut", "what is inside cut", lambda v, r, b: replace(b, inner=b.inner[:-1])),
        ("flipped", "what is inside changed",
         lambda v, r, b: replace(b, inner=b.inner[:-1] + bytes([b.inner[-1] ^ 1]))),
        ("ephemeral", "another public half beside it", lambda v, r, b: replace(b, ephemeral=OTHER_PAIR)),
        ("small-order", "a public half of small order", lambda v, r, b: replace(b, ephemeral=bytes(32))),
        ("inner-form", "a form inside that there is not",
         lambda v, r, b: resealed_inside(v, r, plain=b"\2hidden")),
        ("standard", "a standard body in a protected row", lambda v, r, b: b"\0hidden"),
        ("short", "shorter than any", lambda v, r, b: b.encode()[:40])):
    protected_fault(name, note, bend)

protected_fault("size", "shorter than meta says",
                lambda v, r, b: resealed_inside(v, r, plain=b"\0hid"), "item/size")


def another_value(vault, row, body):
    vault.db.execute("UPDATE chunk SET value = zeroblob(16)")
    return replace(body, value_id=bytes(16))


protected_fault("value-id", "another value id outside than inside", another_value,
                on="protected-large", item=b"large")


def flipped_class(vault, name, cls):
    """A row of the other class with the same plaintext, under a tree that agrees."""
    line = item_line(vault, vault.row(vault.tag(name)))
    with vault.change():
        row = vault.row(vault.tag(name))
        plain = fmt.unpad(fmt.unseal(vault.data_key(row), row.body_ad(vault.vault_id), row.body))
        meta, row.cls = vault.meta(row), cls
        vault.store_row(vault.seal_row(row, meta, plain), row)
    return {"item": line.replace(f"class={1 - cls}", f"class={cls}")}


@fault("item/body", "a protected row that says it is standard", on="protected-kept")
def protected_said_standard(vault):
    return flipped_class(vault, b"secret", 0)


@fault("item/body", "a standard row that says it is protected", on="recovery-key")
def standard_said_protected(vault):
    return flipped_class(vault, b"com.example.juice/userIdentifier", 1)


text("protected-class", "tree/leaf", "a protected row's class changed by somebody without a key",
     "UPDATE item SET class = 0;", on="protected")
text("protected-chunk-missing", "chunk/missing", "a chunk of a protected value deleted",
     "DELETE FROM chunk WHERE number = 1;", on="protected-large")
text("protected-chunk-flipped", "chunk/damaged", "a chunk of a protected value changed",
     "UPDATE chunk SET data = substr(data, 1, 100) || zeroblob(8) || substr(data, 109) "
     "WHERE number = 1;", on="protected-large")
text("protected-unread-chunk-missing", "chunk/missing", "a chunk deleted of what is not read",
     "DELETE FROM chunk WHERE number = 1;", on="protected-unread")
text("protected-unread-chunk-cut", "chunk/damaged", "a chunk cut of what is not read",
     "UPDATE chunk SET data = substr(data, 1, 100) || x'' WHERE number = 1;", on="protected-unread")
