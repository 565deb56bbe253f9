# SPDX-License-Identifier: MIT
"""A rotation of the data key, as kura-format(5) has it: begun, gone on with, ended."""

from dataclasses import replace

from kura_format import u64
from kura_vault import opened

LAST = b"\xff" * 16


def begin(vault):
    """Adds a data key, unless a rotation is under way."""
    with vault.change():
        if vault.ring.work == 1:
            return
        old = [(number, 2, created, key) for number, _, created, key in vault.ring.generations]
        new = (old[-1][0] + 1, 1, vault.source.time(), vault.source.bytes(32))
        vault.ring.generations = old + [new]
        vault.ring.work, vault.ring.cursor = 1, bytes(16)
        store(vault)


def go_on(vault, until=LAST):
    """Seals what stands below a tag again."""
    with vault.change():
        start = vault.ring.cursor
        for row, _ in list(vault.list()):
            if start <= row.tag < until or (row.tag == until == LAST):
                reseal_item(vault, row)
        vault.ring.cursor = max(start, until)
        store(vault)


def end(vault):
    """Drops the other data keys once nothing needs them."""
    with vault.change():
        assert row_generations(vault) <= {vault.ring.active}
        forget(vault)


def row_generations(vault):
    tables = [vault.file.rows(f"SELECT DISTINCT generation FROM {t}") for t in ("item", "history")]
    return {generation for rows in tables for (generation,) in rows}


def generations(vault):
    """Those of the data keys, and those that rows name."""
    return row_generations(vault) | {number for number, *_ in vault.ring.generations}


def skip(vault):
    """Says that everything is done."""
    vault.ring.cursor = LAST
    store(vault)


def forget(vault):
    """The same without looking: what the last commit of a rotation does to the ring."""
    vault.ring.generations = [g for g in vault.ring.generations if g[1] == 1]
    vault.ring.work, vault.ring.cursor = 0, bytes(16)
    store(vault)


def store(vault):
    vault.store_ring()
    vault.store_root()


def reseal_item(vault, row):
    entries = []
    for revision, leaf in vault.history(row):
        old = vault.checked_row(vault.file.old_item(row.id, revision), leaf, "history")
        reseal_row(vault, old)
        vault.file.store_old_item(old)
        entries.append(u64(revision) + old.leaf(vault.keys.tree, in_history=True))
    row.history = b"".join(entries)
    reseal_row(vault, row)
    vault.file.store_item(row)
    root = vault.tree.update(vault.root, row.tag, row.leaf(vault.keys.tree))
    vault.root = replace(vault.root, tree_root=root)


def reseal_row(vault, row):
    """Meta and body as they are, padding and all, under the active key."""
    key, vault_id = vault.data_key(row), vault.vault_id
    meta = opened("item", "meta", key, row.meta_ad(vault_id), row.meta, padded=False)
    body = opened("item", "body", key, row.body_ad(vault_id), row.body, padded=False)
    row.generation = vault.ring.active
    vault.seal_row(row, None, None, meta_padded=meta, body_padded=body)
