# SPDX-License-Identifier: MIT
"""Good vaults: what a reader must read, byte for byte."""

from dataclasses import replace

import kura_format as fmt
import kura_rotation as rotation
from kura_format import DISABLED, KEY_FILE, PASSCODE, RECOVERY_KEY, SlotHeader
from kura_record import Manifest, Meta, Row, Seen
from make_vectors import base, fault
from vector_file import pattern

RECOVERY = bytes.fromhex("00112233445566778899aabbccddeeff01234567")
TEXT = fmt.recovery_text(RECOVERY)
OTHER = "an entirely different passcode".encode()
KEY = pattern(64)


def resealed_root(vault, **changes):
    """The next root over whatever parts and slots stand in the file now."""
    vault.store_root(**changes)


def sealed_row(vault, name, value, revision=1, old=None, **facts):
    """A sealed row outside any tree; `facts` override the row's columns."""
    row = Row(vault.tag(name), vault.source.bytes(16), revision, vault.ring.active, 0, 0, b"",
              b"", b"")
    for key, fact in facts.items():
        setattr(row, key, fact)
    now = vault.source.time()
    return vault.seal_row(row, Meta(now, now, len(value), name), b"\0" + value)


@base("a vault that holds nothing")
def empty(vault):
    pass


@base("a passcode and a recovery key; opened with the recovery key", recovery=RECOVERY,
      secret={"recovery-key": TEXT})
def recovery_key(vault):
    vault.put(b"com.example.juice/userIdentifier", b"001973.5a1e0a7d41c24f0a9c7c2f5b1c0c7d62.1702")


@base("the whole vault of kura-format(5): an item with an earlier revision, and a protected one")
def example(vault):
    vault.put(b"com.example.juice/token", b"token one")
    vault.put(b"com.example.juice/token", b"token two", {b"user": b"mary"})
    vault.put(b"mail/mary", b"hidden", cls=1)


@base("three small items", recovery=RECOVERY)
def three_items(vault):
    vault.put(b"com.example.juice/userIdentifier", b"001973.5a1e0a7d41c24f0a9c7c2f5b1c0c7d62.1702")
    vault.put(b"com.example.juice/token", b"token one", {b"scope": b"read", b"user": b"mary"})
    vault.put(b"mail/mary", b"\x00\x01\x02\xff binary \r\n")


def fill_small(vault):
    vault.put(b"a/b", b"first")
    vault.put(b"a/b", b"second", {b"key": b"value"})
    vault.put(b"c", b"another")
    vault.put(b"gone", b"deleted")
    vault.remove(b"gone")


@base("little of everything, for damage byte by byte", recovery=RECOVERY,
      secret={"recovery-key": TEXT})
def small(vault):
    fill_small(vault)


@fault("ok", "good-small with one value replaced", on="small")
def good_small_changed(vault):
    vault.put(b"c", b"replaced")


@fault("tree/leaf", "good-small with one value replaced, and the old row put back", on="small")
def small_rolled_back(vault):
    row = vault.file.item(vault.tag(b"c"))
    vault.put(b"c", b"replaced")
    vault.db.execute("DELETE FROM history WHERE item = ?", (row.id,))
    vault.file.store_item(row)


@base("an item with three earlier revisions, a deleted one, and one that came back")
def history(vault):
    for word in (b"first", b"second", b"third", b"fourth"):
        vault.put(b"web/mary", word, {b"n": word})
    vault.put(b"web/gone", b"still in the history")
    vault.remove(b"web/gone")
    vault.put(b"web/back", b"before")
    vault.remove(b"web/back")
    vault.put(b"web/back", b"after")
    vault.put(b"web/other", b"other")


@base("history-depth 2: the oldest revisions were dropped")
def history_depth(vault):
    with vault.change():
        vault.ring.policy[4] = 2
        vault.store_ring()
        resealed_root(vault)
    for n in range(5):
        vault.put(b"kept/twice", b"value %d" % n)


@base("an item that was renamed: its earlier revision stands under the old name's tag")
def renamed(vault):
    vault.put(b"old/name", b"kept value")
    with vault.change():
        old = vault.row(vault.tag(b"old/name"))
        row = vault.next_row(vault.tag(b"new/name"), old)
        meta = replace(vault.meta(old), name=b"new/name")
        vault.db.execute("DELETE FROM item WHERE tag = ?", (old.tag,))
        vault.root = replace(vault.root, tree_root=vault.tree.update(vault.root, old.tag, None))
        vault.store_row(vault.seal_row(row, meta, b"\0kept value"), old)


@base("attributes: none, empty values, many, a long one, keys in every script")
def attributes(vault):
    vault.put(b"none", b"v")
    vault.put(b"some", b"v", {b"b": b"line\nline\ttab", b"a": b"", b"aa": b"2",
                          "Zugang f\u00fcr".encode(): "\U0001f511 \uae00".encode(), b"k" * 255: b"1"})
    vault.put(b"many", b"v", {b"key %03d" % n: b"%d" % n for n in range(100)})
    vault.put(b"long", b"v", {b"note": b"x" * 9000})


@base("names: composed and decomposed, Hangul, joined emoji, 1,024 bytes, dots and spaces")
def names(vault):
    composed = ["caf\u00e9/\u212b", "\u1112\u1161\u11ab/\uae00", "a b/..c/d.", 
                "\U0001f469\u200d\U0001f4bb", "n" * 1024, "e\u0323\u0307/q", "\u00fc" * 512]
    for number, name in enumerate(composed):
        vault.put(name.encode(), b"%d" % number)


@base("a passcode in decomposed letters and with an ideographic space",
      passcode="Cafe\u0301\u3000A\u030angstro\u0308m \U0001f469\u200d\U0001f4bb".encode())
def unicode_passcode(vault):
    vault.put(b"a", b"1")


@base("a passcode of 1,024 bytes", passcode=b"p" * 1024)
def longest_passcode(vault):
    vault.put(b"a", b"1")


@base("values at each edge of the padding, and an empty one")
def padding(vault):
    for size in (0, 1, 253, 254, 255, 510, 511, 4093, 4094, 4095, 4096, 5119):
        vault.put(b"size/%d" % size, pattern(size) if size > 256 else b"v" * size)


@base("the longest value that stands in a row: 65,536 bytes")
def longest_inline(vault):
    vault.put(b"inline", pattern(65536))


@base("values in chunks: 65,537 bytes, then 131,073 as the next revision")
def chunked(vault):
    vault.put(b"small", b"beside it")
    vault.put(b"large", pattern(65537))
    vault.put(b"large", pattern(131073))


@base("values in chunks, in the chunk table that 0.1.0 made", is_earlier=True)
def chunked_earlier(vault):
    vault.put(b"large", pattern(131073))


@fault("ok", "an attribute edit: two revisions share one value in chunks", on="chunked")
def good_chunked_shared(vault):
    with vault.change():
        old = vault.row(vault.tag(b"large"))
        row, meta = vault.next_row(old.tag, old), vault.meta(old)
        meta.attributes = {b"k": b"v"}
        vault.store_row(vault.seal_row(row, meta, vault.body(old)[1].encode()), old)


@fault("ok", "an upload that was never finished: loose chunks", on="three-items")
def good_loose_upload(vault):
    manifest = Manifest(131073, 3, vault.source.bytes(16), vault.source.bytes(32))
    sealed = fmt.seal(manifest.value_key, manifest.chunk_ad(0), b"short", vault.source.bytes(24))
    vault.db.execute("INSERT INTO chunk VALUES (?, ?, ?)", (manifest.value_id, 0, sealed))
    vault.db.execute("INSERT INTO loose VALUES (?)", (manifest.value_id,))


@base("four passcodes, two recovery keys, a key file and two kinds of later releases")
def slots(vault):
    for number in (1, 2, 9):
        vault.add_slot(number, PASSCODE, b"passcode %d" % number, (number % 3 + 1, 8192),
                       label=b"label %d" % number)
    vault.add_slot(3, RECOVERY_KEY, RECOVERY, label="büro".encode())
    vault.add_slot(4, RECOVERY_KEY, pattern(20), label=b"l" * 64)
    vault.add_slot(5, KEY_FILE, KEY, with_protected=False)
    for number, kind in ((14, 5), (15, 6)):
        header = SlotHeader(kind, 0, 0, 0, vault.source.bytes(16), vault.source.bytes(16)).encode()
        vault.db.execute("INSERT INTO slot VALUES (?, ?, ?, x'')",
                         (number, header, vault.source.bytes(328)))
    resealed_root(vault)
    vault.put(b"a", b"1")


def disable(vault, number):
    """Puts a slot out of use, as its owner does."""
    columns = vault.db.execute(
        "SELECT header, key, protected FROM slot WHERE number = ?", (number,)).fetchone()
    slot_id = columns[0][32:]
    plain = b"".join(len(column).to_bytes(2, "little") + column for column in columns)
    sealed = fmt.seal(vault.keys.ring, b"\x0d" + vault.vault_id + slot_id, fmt.pad(plain),
                      vault.source.bytes(24))
    vault.db.execute("UPDATE slot SET header = ?, key = ?, protected = x'' WHERE number = ?",
                     (bytes([DISABLED]) + bytes(31) + slot_id, sealed, number))
    resealed_root(vault)


@fault("ok", "slots that are disabled, beside those that open", on="slots",
       passcode_hex=b"passcode 9".hex())
def good_slots_disabled(vault):
    for number in (1, 3, 5):
        disable(vault, number)


@fault("ok", "the last of four passcodes", on="slots", passcode_hex=b"passcode 9".hex())
def good_slots_passcode(vault):
    pass


@fault("ok", "a recovery key as people type it", on="slots",
       recovery_key=" " + TEXT.lower().replace("0", "o").replace("1", "l").replace("-", " "))
def good_slots_recovery_key(vault):
    pass


@fault("ok", "a key file", on="slots", key_file_hex=KEY.hex())
def good_slots_key_file(vault):
    pass


@base("16 slots: 4 passcodes and 12 recovery keys")
def slots_16(vault):
    for number in range(1, 16):
        if number < 4:
            vault.add_slot(number, PASSCODE, b"passcode %d" % number, (1, 8192))
        else:
            vault.add_slot(number, RECOVERY_KEY, bytes([number]) * 20)
    resealed_root(vault)


@base("two generations of data keys with rows under each, and a rotation under way")
def generations(vault):
    vault.put(b"under/first", b"1")
    vault.put(b"under/both", b"1")
    with vault.change():
        number, _, created, key = vault.ring.generations[0]
        vault.ring.generations = [(number, 2, created, key),
                                  (7, 1, vault.source.time(), vault.source.bytes(32))]
        vault.ring.work, vault.ring.cursor = 1, b"\x80" + bytes(15)
        vault.store_ring()
        resealed_root(vault)
    vault.put(b"under/second", b"2")
    vault.put(b"under/both", b"2")


def fill_for_rotation(vault):
    fill_small(vault)
    for number in range(12):
        vault.put(b"item/%d" % number, b"value %d" % number)
    vault.put(b"large", pattern(70_000))
    rotation.begin(vault)


@base("a rotation under way: what stands below the cursor is under the new data key")
def rotation_under_way(vault):
    fill_for_rotation(vault)
    rotation.go_on(vault, b"\x80" + bytes(15))
    vault.put(b"c", b"stored meanwhile")
    vault.put(b"new", b"stored meanwhile")


@base("a rotation of which only the end is missing")
def rotation_at_its_end(vault):
    fill_for_rotation(vault)
    rotation.go_on(vault)


@base("after a rotation: one data key, of generation 2")
def rotated(vault):
    fill_for_rotation(vault)
    rotation.go_on(vault)
    rotation.end(vault)


@fault("item/generation", "a data key that was dropped before its last row", on="rotation-under-way")
def rotation_ended_early(vault):
    with vault.change():
        rotation.forget(vault)


@base("policy: every known key and one of a later release")
def policy(vault):
    with vault.change():
        vault.ring.policy = {1: 60000, 2: 3600000, 3: 0, 4: 3, 5: 0, 6: 1, 200: 1 << 60}
        vault.store_ring()
        resealed_root(vault)
    vault.put(b"a", b"1")


@base("slot notes: a label, and where a key file stood")
def slot_notes(vault):
    with vault.change():
        slot = vault.file.slots()[0][1][32:]
        vault.ring.notes = [(slot, 1 << 40, 1, "B\u00fcro".encode(), b"/media/usb/key")]
        vault.store_ring()
        resealed_root(vault)
    vault.put(b"a", b"1")


@base("large numbers: epoch, revision, generation, times")
def large_numbers(vault):
    with vault.change():
        _, state, _, key = vault.ring.generations[0]
        vault.ring.generations = [(0xFFFFFFFE, state, 1 << 50, key)]
        vault.store_ring()
        resealed_root(vault, epoch=(1 << 40) + 5)
        row = sealed_row(vault, b"big", b"numbers", revision=(1 << 41) + 3)
        vault.store_row(row)
    vault.put(b"big", b"numbers, next")


def deepened(vault, depth):
    for word in (b"one", b"two", b"three"):
        vault.put(b"deep/" + word, word)
    with vault.change():
        leaves = {row.tag: row.leaf(vault.keys.tree) for row, _ in vault.list()}
        resealed_root(vault, depth=depth, tree_root=vault.tree.rebuild(depth, leaves))
    vault.put(b"deep/two", b"again")


@base("a tree of depth 2")
def depth_2(vault):
    deepened(vault, 2)


@base("a tree of depth 3")
def depth_3(vault):
    deepened(vault, 3)


def seen_of(vault, counter=1, **changes):
    """A seen slot of the vault as it stands."""
    seen = Seen(counter, vault.root.epoch, vault.fingerprint(), vault.source.time(), b"/old/path")
    return replace(seen, **changes).encode(vault.keys.seen, vault.vault_id)


@fault("ok", "the seen file knows this very state")
def good_seen_equal(vault):
    return {"seen-hex": (seen_of(vault) + seen_of(vault, 2)).hex()}


@fault("ok", "the seen file knows an earlier state; its other slot is torn")
def good_seen_earlier(vault):
    torn = bytearray(seen_of(vault, 9, epoch=1 << 30))
    torn[300] ^= 1
    return {"seen-hex": (seen_of(vault, 3, epoch=2) + torn).hex()}


@fault("ok", "a seen file that holds nothing valid is as good as none")
def good_seen_damaged(vault):
    return {"seen-hex": bytes(1024).hex()}


@fault("seen/rolled-back", "the seen file knows a later epoch")
def seen_rolled_back(vault):
    later = seen_of(vault, 8, epoch=vault.root.epoch + 1, fingerprint=bytes(32))
    return {"seen-hex": (seen_of(vault, 7) + later).hex()}


@fault("seen/forked", "the seen file knows another state of the same epoch")
def seen_forked(vault):
    return {"seen-hex": (seen_of(vault, 2, fingerprint=bytes(32)) + bytes(512)).hex()}
