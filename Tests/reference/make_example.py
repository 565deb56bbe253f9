#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints what kura-format(5) shows of the vector good-example: its rows, its keys, and what is in it."""

import sys
import tempfile
from pathlib import Path

import kura_format as fmt
from kura_format import SlotHeader
from kura_vault import Vault
from vector_file import VectorFile

VECTOR = Path(__file__).resolve().parents[2] / "Fixtures/vectors/vault/good-example.sql"


def lines(label, data):
    """A name of 16 columns, and 32 bytes a line beside it."""
    text = data.hex() if isinstance(data, bytes) else str(data)
    parts = [text[at:at + 64] for at in range(0, len(text), 64)] or ["none"]
    return [f"{label if not number else '':16}{part}" for number, part in enumerate(parts)]


def row(title, names, values):
    out = [title]
    for name, value in zip(names, values):
        out += lines("  " + name, value)
    return out


def rows(vault):
    db = vault.db
    names = ("header", "ring", "root")
    out = []
    for number, data in db.execute("SELECT id, data FROM part ORDER BY id"):
        out += row(f"part {number}", (names[number],), (data,))
    for number, *blobs in db.execute("SELECT number, header, key, protected FROM slot"):
        out += row(f"slot {number}", ("header", "key", "protected"), blobs)
    columns = ("tag", "id", "revision", "generation", "class", "kind", "history", "meta", "body")
    for values in db.execute(f"SELECT {', '.join(columns)} FROM item ORDER BY tag"):
        out += row("item", columns, values)
    columns = ("item", "revision", "tag", "generation", "class", "kind", "meta", "body")
    for values in db.execute(f"SELECT {', '.join(columns)} FROM history"):
        out += row("history", columns, values)
    for number, leaves in db.execute("SELECT number, leaves FROM bucket ORDER BY number"):
        out += row(f"bucket {number}", ("leaves",), (leaves,))
    for number, digests in db.execute("SELECT id, digests FROM node"):
        children = [n for n in range(64) if any(digests[32 * n:32 * n + 32])]
        out += row(f"node {number}", [f"child {n}" for n in children],
                   [digests[32 * n:32 * n + 32] for n in children])
    return out


def keys(vault, passcode):
    header, = vault.db.execute("SELECT header FROM slot").fetchone()
    secret = SlotHeader.decode(header).secret(fmt.prepared_passcode(passcode))
    kek, protected_kek = fmt.slot_keys(secret, vault.vault_id, header)
    out = [("s", secret), ("KEK", kek), ("protected KEK", protected_kek), ("VK", vault.keys.vault_key)]
    out += [(name, getattr(vault.keys, name)) for name in ("name", "ring", "tree", "root", "seen", "log")]
    out += [("data key", vault.ring.key(1)), ("pair, secret", vault.protected_secret),
            ("pair, public", vault.ring.protected_public), ("header digest", vault.root.header_digest),
            ("tree root", vault.root.tree_root), ("fingerprint", vault.fingerprint())]
    return [line for name, data in out for line in lines(name, data)]


def contents(vault):
    out = []
    for item, meta in vault.list():
        revisions = [vault.old_row(item, number) for number, _ in vault.history(item)] + [item]
        for each in revisions:
            meta = vault.meta(each)
            attributes = "".join(f" {k.decode()}={v.decode()}" for k, v in meta.attributes.items())
            out.append(f"{meta.name.decode()}, revision {each.revision}: "
                       f"{vault.value(each).decode()}{attributes}")
    return out


def page():
    """The three lists, as they stand on the page between .Bd and .Ed."""
    vector = VectorFile(VECTOR)
    with tempfile.TemporaryDirectory() as scratch:
        path = scratch + "/vault.kura"
        vector.build(path)
        vault = vector.open(path)
        passcode = bytes.fromhex(vector.field("passcode-hex"))
        lists = [rows(vault), keys(vault, passcode), contents(vault)]
        vault.close()
    return ["\n".join(text) for text in lists]


if __name__ == "__main__":
    print("\n\n".join(page()))
    sys.exit(0)
