# SPDX-License-Identifier: MIT
"""Faults in histories, chunks and loose values."""

from dataclasses import replace

from kura_format import seal, u64, u8
from make_vectors import fault, text
from vectors_items import rewritten

MARY = "(SELECT item FROM history GROUP BY item HAVING count(*) = 3)"

# --- History ------------------------------------------------------------------------------------

for name, expect, note, sql in (
        ("row-deleted", "history/row-missing", "an earlier revision deleted",
         f"DELETE FROM history WHERE item = {MARY} AND revision = 2;"),
        ("row-exchanged", "history/row", "two earlier revisions exchanged",
         f"UPDATE history SET revision = 30 - revision WHERE item = {MARY} AND revision < 3; "
         "UPDATE history SET revision = revision - 27 WHERE revision > 20;"),
        ("row-body-of-another", "history/row", "the body of another revision",
         f"UPDATE history SET body = (SELECT body FROM history WHERE item = {MARY} AND "
         f"revision = 3) WHERE item = {MARY} AND revision = 1;"),
        ("row-kind", "history/row", "another kind",
         f"UPDATE history SET kind = 1 WHERE item = {MARY} AND revision = 1;"),
        ("row-tag", "history/row", "another tag",
         f"UPDATE history SET tag = zeroblob(16) WHERE item = {MARY} AND revision = 1;"),
        ("row-middle", "item/body", "ciphertext changed, its ends kept",
         "UPDATE history SET body = substr(body, 1, 100) || zeroblob(8) || substr(body, 109) "
         f"WHERE item = {MARY} AND revision = 1;"),
        ("row-stray", "history/stray", "a revision that no history names", "INSERT INTO history "
         "SELECT item, 9, tag, generation, class, kind, meta, body FROM history "
         f"WHERE item = {MARY} AND revision = 1;"),
        ("row-stray-item", "history/stray", "a revision of an item there is not", "INSERT INTO "
         "history SELECT zeroblob(16), 1, tag, generation, class, kind, meta, body FROM history "
         f"WHERE item = {MARY} AND revision = 1;"),
        ("column-emptied", "tree/leaf", "a history column emptied",
         "UPDATE item SET history = x'' WHERE length(history) = 120;"),
        ("column-cut", "tree/leaf", "the last entry cut off",
         "UPDATE item SET history = substr(history, 1, 80) WHERE length(history) = 120;"),
        ("column-length", "tree/leaf", "a byte too many",
         "UPDATE item SET history = history || x'00' WHERE length(history) = 120;"),
        ("column-reordered", "tree/leaf", "two entries exchanged", "UPDATE item SET history = "
         "substr(history, 41, 40) || substr(history, 1, 40) || substr(history, 81) "
         "WHERE length(history) = 120;")):
    text("history-" + name, expect, note, sql, on="history")


def column_fault(name, note, make, expect="history/column"):
    """A history column that the tree agrees with; `make` gets [(revision, leaf)]."""
    def bend(vault):
        row = vault.row(vault.tag(b"web/mary"))
        made = make(vault.history(row))
        rewritten(vault, replace(row, history=b"".join(u64(n) + leaf for n, leaf in made)))
    bend.__name__ = "history-" + name
    fault(expect, note, on="history")(bend)


column_fault("order", "entries descending, under a tree that agrees", lambda e: [e[1], e[0], e[2]])
column_fault("twice", "an entry twice, under a tree that agrees", lambda e: [e[0], e[0], e[1]])
column_fault("not-earlier", "an entry of the current revision",
             lambda e: e + [(4, e[2][1])])
column_fault("zero", "an entry of revision 0", lambda e: [(0, e[0][1])] + e[1:])
column_fault("leaf", "an entry with another leaf, under a tree that agrees",
             lambda e: [(e[0][0], bytes(32))] + e[1:], expect="history/row")
# --- Chunks -------------------------------------------------------------------------------------

NEW = "(SELECT value FROM chunk WHERE number = 2)"
OLD = f"(SELECT value FROM chunk WHERE number = 0 AND value <> {NEW})"
for name, expect, note, sql in (
        ("missing-first", "chunk/missing", "the first chunk deleted",
         f"DELETE FROM chunk WHERE value = {NEW} AND number = 0;"),
        ("missing-last", "chunk/missing", "the last chunk deleted",
         f"DELETE FROM chunk WHERE value = {NEW} AND number = 2;"),
        ("missing-old", "chunk/missing", "a chunk of an earlier revision deleted",
         f"DELETE FROM chunk WHERE value = {OLD} AND number = 1;"),
        ("exchanged", "chunk/damaged", "two chunks exchanged",
         f"UPDATE chunk SET number = 9 - number WHERE value = {NEW} AND number < 2; "
         "UPDATE chunk SET number = number - 8 WHERE number > 7;"),
        ("exchanged-with-last", "chunk/damaged", "the first and the last chunk exchanged",
         "UPDATE chunk SET number = 12 - number WHERE number IN (0, 2) AND value = "
         "(SELECT value FROM chunk WHERE number = 2); "
         "UPDATE chunk SET number = number - 10 WHERE number > 9;"),
        ("of-earlier-revision", "chunk/damaged", "a chunk of the earlier revision's value",
         f"UPDATE chunk SET data = (SELECT data FROM chunk WHERE value = {OLD} AND number = 0) "
         f"WHERE value = {NEW} AND number = 0;"),
        ("cut", "chunk/damaged", "a chunk cut short",
         f"UPDATE chunk SET data = substr(data, 1, 30000) WHERE value = {NEW} AND number = 1;"),
        ("cut-to-nothing", "chunk/damaged", "a chunk of no bytes",
         f"UPDATE chunk SET data = x'' WHERE value = {NEW} AND number = 1;"),
        ("longer", "chunk/damaged", "a byte appended",
         f"UPDATE chunk SET data = data || x'00' WHERE value = {NEW} AND number = 1;"),
        ("flipped", "chunk/damaged", "ciphertext changed", "UPDATE chunk SET data = "
         f"substr(data, 1, 5000) || zeroblob(8) || substr(data, 5009) WHERE value = {NEW} "
         "AND number = 1;"),
        ("extra", "chunk/stray", "a chunk after the last",
         f"INSERT INTO chunk SELECT value, 3, data FROM chunk WHERE number = 2;"),
        ("stray", "chunk/stray", "a chunk of a value that nothing names",
         "INSERT INTO chunk SELECT zeroblob(16), 0, data FROM chunk WHERE number = 2;")):
    text("chunk-" + name, expect, note, sql, on="chunked")

text("loose-live-value", "loose/live-value", "a live value planted among the loose ones",
     f"INSERT INTO loose VALUES ({NEW});", on="chunked")
text("loose-live-old-value", "loose/live-value", "an earlier revision's value planted there",
     f"INSERT INTO loose VALUES ({OLD});", on="chunked")


def last_chunk(name, note, data, ad=None):
    """Chunk 2, the last and shortest, sealed anew under its own key."""
    def bend(vault):
        manifest = vault.body(vault.row(vault.tag(b"large")))[1]
        bound = ad(manifest) if ad else manifest.chunk_ad(2)
        sealed = seal(manifest.value_key, bound, data, vault.source.bytes(24))
        vault.db.execute("UPDATE chunk SET data = ? WHERE value = ? AND number = 2",
                         (sealed, manifest.value_id))
    bend.__name__ = "chunk-" + name
    fault("chunk/damaged", note, on="chunked")(bend)


last_chunk("last-flag", "the last chunk sealed without the last flag", b"\x5e",
           lambda m: b"\x07" + m.value_id + u64(2) + u8(0))
last_chunk("last-empty", "a last chunk that holds nothing", b"")
last_chunk("last-longer", "a last chunk longer than the length says", b"\x5e\x5e")
last_chunk("other-value", "a chunk bound to another value id", b"\x5e",
           lambda m: b"\x07" + bytes(16) + u64(2) + u8(1))


def manifest_fault(name, expect, note, make):
    """The large item's manifest bytes, made by `make(manifest)`, under a tree that agrees."""
    def bend(vault):
        row = vault.row(vault.tag(b"large"))
        made = make(vault.body(row)[1])
        raw = made if isinstance(made, bytes) else made.encode()
        rewritten(vault, vault.seal_row(row, vault.meta(row), raw))
    bend.__name__ = "manifest-" + name
    fault(expect, note, on="chunked")(bend)


manifest_fault("count", "item/body", "a chunk count that the length does not give",
               lambda m: replace(m, chunks=2))
manifest_fault("length-0", "item/body", "a value of no bytes in no chunks",
               lambda m: replace(m, length=0, chunks=0))
manifest_fault("length-65536", "item/body", "a value in chunks that fits a row",
               lambda m: replace(m, length=65536, chunks=1))
manifest_fault("length-most", "item/body", "a length of 2^64 - 1 and no chunks to hold it",
               lambda m: replace(m, length=2**64 - 1, chunks=0))
manifest_fault("length-over", "item/body", "a length over 2^40",
               lambda m: replace(m, length=2**40 + 1, chunks=2**24 + 1))
manifest_fault("shorter", "item/size", "a value cut to two chunks, but not in meta",
               lambda m: replace(m, length=131072, chunks=2))
manifest_fault("trailing", "item/body", "bytes after the manifest", lambda m: m.encode() + b"\1")
manifest_fault("cut", "item/body", "a manifest cut short", lambda m: m.encode()[:-1])
manifest_fault("other-value", "chunk/missing", "another value id",
               lambda m: replace(m, value_id=bytes(16)))
manifest_fault("other-key", "chunk/damaged", "another value key",
               lambda m: replace(m, value_key=bytes(32)))
