# SPDX-License-Identifier: MIT
"""The bucketed keyed Merkle tree over SQLite rows: verified paths, updates, the whole tree."""

from kura_format import ZERO32, Refused
from kura_record import bucket_digest, bucket_number, node_digest

EMPTY_NODE = bytes(64 * 32)


class Tree:
    """The tree of one vault as it stands in `connection`."""

    def __init__(self, connection, tree_key, vault_id):
        self.db, self.key, self.vault_id = connection, tree_key, vault_id

    def node(self, level, index):
        row = self.db.execute("SELECT digests FROM node WHERE id = ?",
                              (level << 32 | index,)).fetchone()
        if row and len(row[0]) != len(EMPTY_NODE):
            raise Refused("tree", "node", f"{level}/{index} length")
        if row and row[0] == EMPTY_NODE:
            raise Refused("tree", "node", f"{level}/{index} without children")
        return row[0] if row else EMPTY_NODE

    def leaves(self, number):
        row = self.db.execute("SELECT leaves FROM bucket WHERE number = ?", (number,)).fetchone()
        if row and (not row[0] or len(row[0]) % 48):
            raise Refused("tree", "bucket", f"{number} length")
        return row[0] if row else b""

    def node_digest(self, depth, level, index, digests):
        return node_digest(self.key, self.vault_id, depth, level, index, digests)

    def bucket_digest(self, depth, number, leaves):
        return bucket_digest(self.key, self.vault_id, depth, number, leaves)

    def verified_node(self, root, level, index):
        """A node's digests after the path from the sealed root down to it was recomputed."""
        expected = root.tree_root
        if level:
            parent = self.verified_node(root, level - 1, index >> 6)
            expected = parent[32 * (index & 63):][:32]
        digests = self.node(level, index)
        if self.node_digest(root.depth, level, index, digests) != expected:
            raise Refused("tree", "node", f"{level}/{index}")
        return digests

    def verified_leaves(self, root, number):
        """A bucket as {tag: leaf}, proved against the sealed root."""
        parent = self.verified_node(root, root.depth - 1, number >> 6)
        leaves = self.leaves(number)
        if self.bucket_digest(root.depth, number, leaves) != parent[32 * (number & 63):][:32]:
            raise Refused("tree", "bucket", str(number))
        pairs = [(leaves[at:at + 16], leaves[at + 16:at + 48]) for at in range(0, len(leaves), 48)]
        tags = [tag for tag, _ in pairs]
        if any(a >= b for a, b in zip(tags, tags[1:])) \
                or any(bucket_number(tag, root.depth) != number for tag in tags):
            raise Refused("tree", "bucket", f"{number} order")
        return dict(pairs)

    def verified_leaf(self, root, tag):
        """The leaf of `tag`, or None as a proof that there is none."""
        return self.verified_leaves(root, bucket_number(tag, root.depth)).get(tag)

    # Writing: the caller has verified the old path and holds the transaction.

    def store_bucket(self, depth, number, leaves):
        """Writes a bucket and its path; returns the new tree root."""
        if leaves:
            self.db.execute("INSERT OR REPLACE INTO bucket VALUES (?, ?)", (number, leaves))
        else:
            self.db.execute("DELETE FROM bucket WHERE number = ?", (number,))
        digest, index = self.bucket_digest(depth, number, leaves), number
        for level in range(depth - 1, -1, -1):
            digests = bytearray(self.node(level, index >> 6))
            digests[32 * (index & 63):32 * (index & 63) + 32] = digest
            index >>= 6
            digest = self.store_node(depth, level, index, bytes(digests))
        return digest

    def store_node(self, depth, level, index, digests):
        key = level << 32 | index
        if any(digests):
            self.db.execute("INSERT OR REPLACE INTO node VALUES (?, ?)", (key, digests))
        else:
            self.db.execute("DELETE FROM node WHERE id = ?", (key,))
        return self.node_digest(depth, level, index, digests)

    def update(self, root, tag, leaf):
        """Sets (or with None removes) a leaf on a verified path; returns the new tree root."""
        number = bucket_number(tag, root.depth)
        entries = self.verified_leaves(root, number)
        entries.pop(tag, None)
        if leaf is not None:
            entries[tag] = leaf
        blob = b"".join(t + l for t, l in sorted(entries.items()))
        return self.store_bucket(root.depth, number, blob)

    def rebuild(self, depth, entries):
        """Writes the whole tree at `depth` from {tag: leaf}; returns the tree root."""
        self.db.execute("DELETE FROM bucket")
        self.db.execute("DELETE FROM node")
        buckets = {}
        for tag, leaf in sorted(entries.items()):
            buckets.setdefault(bucket_number(tag, depth), []).append(tag + leaf)
        top = ZERO32
        for number, pairs in sorted(buckets.items()):
            top = self.store_bucket(depth, number, b"".join(pairs))
        return top

    def strays(self, depth, nodes=None):
        """Rows of `bucket` and `node` outside the tree of this depth, or beside its known (level, index)."""
        for (number,) in self.db.execute("SELECT number FROM bucket"):
            if not 0 <= number < 64 ** depth or (nodes and (depth - 1, number >> 6) not in nodes):
                yield f"bucket {number}"
        for (key,) in self.db.execute("SELECT id FROM node"):
            level, index = key >> 32, key & 0xFFFFFFFF
            if not (0 <= level < depth and index < 64 ** level) or (nodes and (level, index) not in nodes):
                yield f"node {level}/{index}"
