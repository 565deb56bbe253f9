# SPDX-License-Identifier: MIT
"""The whole check of an unlocked vault: every row accounted for, every record opened."""

from kura_format import CHUNK_SIZE, Refused
from kura_record import bucket_number


def findings(vault):
    """Yields a `Refused` for each thing that is wrong; nothing at all for a whole vault."""
    check = _Check(vault)
    yield from check.tree()
    yield from check.items()
    yield from check.strays()
    for part in ("journal", "devices", "remote", "heads", "places") if vault.file.version == 2 else ():
        try:
            getattr(vault, part)()
        except Refused as finding:
            yield finding


def last_part(vault):
    """The last number of a part that the format knows."""
    return 4 if vault.file.version == 2 else 2


class _Check:
    def __init__(self, vault):
        self.vault, self.leaves, self.values = vault, {}, {}
        self.revisions, self.deleted = set(), 0

    def tree(self):
        vault, root = self.vault, self.vault.root
        pending, nodes, whole = [(0, 0)], set(), True
        while pending:
            level, index = pending.pop()
            nodes.add((level, index))
            try:
                digests = vault.tree.verified_node(root, level, index)
            except Refused as finding:
                whole = False
                yield finding
                continue
            for slot in range(64):
                child = index << 6 | slot
                if level + 1 < root.depth:
                    if any(digests[32 * slot:32 * slot + 32]):
                        pending.append((level + 1, child))
                    continue
                yield from self.bucket(child)
        if len(self.leaves) != root.items:
            yield Refused("tree", "count", f"{len(self.leaves)} leaves, {root.items} in the root")
        for where in vault.tree.strays(root.depth, nodes if whole else None):
            yield Refused("tree", "stray", where)

    def bucket(self, number):
        try:
            self.leaves |= self.vault.tree.verified_leaves(self.vault.root, number)
        except Refused as finding:
            yield finding

    def items(self):
        vault, whole = self.vault, True
        for tag, leaf in self.leaves.items():
            row = None
            try:
                row = vault.checked_row(vault.file.item(tag), leaf)
                self.deleted += row.kind in (1, 3)
                self.record(row)
            except Refused as finding:
                whole = False
                yield finding
            if row:
                yield from self.history(row)
        if whole and self.deleted != vault.root.deleted:
            yield Refused("tree", "count", f"{self.deleted} deleted, {vault.root.deleted} in root")

    def record(self, row):
        """Opens a row's meta and body and every chunk, and remembers the value id."""
        vault = self.vault
        if row.cls == 1 and row.kind != 3 and vault.protected_secret is None:
            self.protected(row)
            return
        if row.kind == 3:
            vault.purged(row)
            return
        manifest = vault.body(row)[1]
        if manifest:
            self.values.setdefault(manifest.value_id, manifest.chunks)
        vault.value(row)

    def protected(self, row):
        """As far as a reader gets without the secret half: lengths, and that the chunks are there."""
        vault, size = self.vault, self.vault.meta(row).size
        body = vault.protected(row)
        count = -(-size // CHUNK_SIZE)
        if body.value_id:
            self.values.setdefault(body.value_id, count)
        is_later = isinstance(body.revision, int) and body.revision > row.revision
        if is_later or bool(body.value_id) != (size > CHUNK_SIZE) \
                or (not body.value_id and body.inner_length != size + 1):
            raise Refused("item", "body", "protected")
        for i in range(count if body.value_id else 0):
            sealed = vault.file.chunk(body.value_id, i)
            if sealed is None or len(sealed) != min(size - i * CHUNK_SIZE, CHUNK_SIZE) + 72:
                raise Refused("chunk", "missing" if sealed is None else "damaged", str(i))

    def history(self, row):
        vault = self.vault
        try:
            entries = vault.history(row)
        except Refused as finding:
            yield finding
            return
        for revision, leaf in entries:
            self.revisions.add((row.id, revision))
            try:
                self.record(vault.kept_row(row, revision, leaf))
            except Refused as finding:
                yield finding

    def strays(self):
        """Rows that no part of the tree speaks of."""
        file, depth = self.vault.file, self.vault.root.depth
        try:
            tags = file.rows("SELECT tag FROM item", shape="b")
            old = file.rows("SELECT item, revision FROM history", shape="bi")
            chunks = file.rows("SELECT value, number FROM chunk", shape="bi")
            loose = {value for (value,) in file.rows("SELECT value FROM loose", shape="b")}
            parts = file.rows(f"SELECT id FROM part WHERE id NOT BETWEEN 0 AND {last_part(self.vault)}")
        except Refused as finding:
            yield finding
            return
        for (tag,) in tags:
            known = len(tag) == 16 and self.known_bucket(bucket_number(tag, depth))
            if tag not in self.leaves and known:
                yield Refused("tree", "stray", f"item {tag.hex()}")
        for key in old:
            if key not in self.revisions:
                yield Refused("history", "stray", f"{key[0].hex()} {key[1]}")
        for value in loose:
            if len(value) != 16:
                yield Refused("loose", "damaged", value.hex())
        for value in loose & set(self.values):
            yield Refused("loose", "live-value", value.hex())
        for value, number in chunks:
            if value not in loose and number >= self.values.get(value, 0):
                yield Refused("chunk", "stray", f"{value.hex()} {number}")
        for (number,) in parts:
            yield Refused("file", "stray", f"part {number}")

    def known_bucket(self, number):
        """Whether a bucket could be read, so that a tag outside it really is a stray."""
        try:
            self.vault.tree.verified_leaves(self.vault.root, number)
            return True
        except Refused:
            return False
