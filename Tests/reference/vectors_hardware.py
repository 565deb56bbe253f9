# SPDX-License-Identifier: MIT
"""Slots of a TPM and of a security key: opened, refused, and kept where they are of another shape."""

import struct

import kura_format as fmt
from kura_format import FIDO2, TPM, SlotHeader
from kura_slots import seal_slot
from make_vectors import base, fault, text
from vector_file import pattern
from vectors_good import resealed_root

CODE, GIVES = b"4711", bytes(range(100, 132))
PARTS = (b"\0\x0b" + bytes(range(32)), pattern(50), pattern(120))


def front(vault, kind, kdf=0, passes=0, memory=0):
    return SlotHeader(kind, kdf, passes, memory, vault.source.bytes(16), vault.source.bytes(16))


def add(vault, number, header, secret, protected):
    blobs = seal_slot(vault.keys, header, secret, vault.protected_secret if protected else None,
                      vault.source, vault.source.time())
    vault.db.execute("INSERT INTO slot VALUES (?, ?, ?, ?)", (number, header, *blobs))


def add_tpm(vault, number, code, kept, protected=False, **cost):
    """The slot, and what its TPM is shown; `code` is None for a slot that takes none."""
    fields = front(vault, TPM, *((1, cost.get("passes", 1), 8192) if code else ()))
    derived = code and fmt.tpm_derived(code, fields)
    add(vault, number, fmt.tpm_header(fields, *PARTS),
        fmt.tpm_secret(kept, derived, fields, vault.vault_id), protected)
    return derived and fmt.tpm_auth(derived, vault.vault_id, fields.slot_id)


@base("beside a passcode: a code for a TPM, a TPM without one, and a security key")
def slots_hardware(vault):
    kept, other = vault.source.bytes(32), vault.source.bytes(32)
    shown = add_tpm(vault, 1, CODE, kept, protected=True)
    add_tpm(vault, 2, None, other)
    fields = front(vault, FIDO2)
    add(vault, 3, fmt.fido2_header(fields, 1, pattern(64)), fmt.keyed_hash(GIVES, 32, b"kura1/fido2"),
        False)
    vault.hardware = {
        "tpm": {"tpm-shown-hex": shown.hex(), "tpm-kept-hex": kept.hex()},
        "bare": {"tpm-kept-hex": other.hex()},
        "fido2": {"fido2-salt-hex": fmt.fido2_salt(fields, vault.vault_id).hex(),
                  "fido2-gives-hex": GIVES.hex()}}
    resealed_root(vault)
    vault.put(b"a", b"1")


def case(name, expect, note, kind, bend=None, fields=None, **more):
    """A vector on that base which is opened by hardware, after `bend`, with other fields."""
    def made(vault):
        if bend:
            bend(vault)
        return {**vault.hardware[kind], **(fields or {})}
    made.__name__ = name
    fault(expect, note, on="slots-hardware", **more)(made)


def sql(statement):
    return lambda vault: vault.db.execute(statement)


def flipped(number, at):
    """One bit of a slot's header, counted from its beginning or its end."""
    def bend(vault):
        header, = vault.db.execute("SELECT header FROM slot WHERE number = ?", (number,)).fetchone()
        bent = bytearray(header)
        bent[at] ^= 1
        vault.db.execute("UPDATE slot SET header = ? WHERE number = ?", (bytes(bent), number))
    return bend


BY_CODE, BY_NONE = {"tpm_code_hex": CODE.hex()}, {"tpm_code_hex": "none"}
case("good_slot_tpm", "ok", "a code, and the TPM", "tpm", **BY_CODE)
case("good_slot_tpm_no_code", "ok", "the TPM alone", "bare", **BY_NONE)
case("good_slot_fido2", "ok", "a security key", "fido2")
case("slot_tpm_wrong_code", "slot/wrong-passcode", "a code for which the TPM gives nothing", "tpm",
     tpm_code_hex=b"4712".hex())
case("slot_tpm_other_kept", "slot/wrong-passcode", "a TPM that gives something else", "tpm",
     fields={"tpm-kept-hex": bytes(32).hex()}, **BY_CODE)
case("slot_tpm_other_kept_bare", "slot/wrong-passcode", "the same without a code", "tpm", **BY_NONE)
case("slot_fido2_other", "slot/wrong-passcode", "a security key that gives something else", "fido2",
     fields={"fido2-gives-hex": bytes(32).hex()})
for part, at in (("salt", 16), ("id", 32), ("name", 55), ("public", 100), ("private", -1)):
    case("slot_tpm_" + part, "slot/wrong-passcode", "a bit of a TPM's slot: " + part, "tpm",
         flipped(1, at), **BY_CODE)
for part, at in (("salt", 16), ("id", 32), ("flag", 50), ("credential", -1)):
    case("slot_fido2_" + part, "slot/wrong-passcode", "a bit of a security key's slot: " + part,
         "fido2", flipped(3, at))
case("slot_tpm_renumbered", "root/header-digest", "a TPM's slot at another number", "tpm",
     sql("UPDATE slot SET number = 9 WHERE number = 1"), **BY_CODE)
case("slot_fido2_half", "root/header-digest", "a protected half that a slot has not", "fido2",
     sql("UPDATE slot SET protected = zeroblob(104) WHERE number = 3"))
case("slot_tpm_half_emptied", "root/header-digest", "a protected half that is gone", "tpm",
     sql("UPDATE slot SET protected = x'' WHERE number = 1"), **BY_CODE)
for number, name in ((1, "tpm"), (3, "fido2")):
    text(f"slot-{name}-key-long", "slot/damaged", "a key of 329 bytes",
         f"UPDATE slot SET key = zeroblob(329) WHERE number = {number};", on="slots-hardware")
    text(f"slot-{name}-half-short", "slot/damaged", "a protected half of 103 bytes",
         f"UPDATE slot SET protected = zeroblob(103) WHERE number = {number};", on="slots-hardware")
text("slot-tpm-argon2-5", "slot/too-many", "five slots with Argon2id, four of them of a TPM",
     "INSERT INTO slot SELECT number + 8, header, key, protected FROM slot WHERE number = 1; "
     "INSERT INTO slot SELECT number + 2, header, key, protected FROM slot WHERE number = 9; "
     "INSERT INTO slot SELECT number + 1, header, key, protected FROM slot WHERE number = 11;",
     on="slots-hardware")


def costly(vault):
    header, = vault.db.execute("SELECT header FROM slot WHERE number = 1").fetchone()
    vault.db.execute("UPDATE slot SET header = ? WHERE number = 1",
                     (header[:4] + struct.pack("<I", 17) + header[8:],))


case("slot_tpm_costly", "slot/kdf-refused", "a code that costs too much", "tpm", costly, **BY_CODE)
case("slot_tpm_no_such_slot", "slot/no-such-slot", "no code, where each slot of a TPM takes one",
     "bare", sql("DELETE FROM slot WHERE number = 2"), **BY_NONE)


@base("what is of no TPM's shape and of no security key's is kept, as a later release's")
def slots_odd_hardware(vault):
    tpm, key = front(vault, TPM, 1, 1, 8192), front(vault, FIDO2)
    good = fmt.tpm_header(tpm, *PARTS)
    odd = [
        good[:-1], good + b"\0", good[:48], good[:2] + b"\1" + good[3:],
        good[:1] + b"\2" + good[2:], good[:8] + struct.pack("<Q", 8191) + good[16:],
        fmt.tpm_header(tpm, b"", *PARTS[1:]), fmt.tpm_header(tpm, *PARTS[:2], pattern(681)),
        tpm.encode() + fmt.counted(fmt.counted(b"a") * 2),
        fmt.fido2_header(key, 2, b"id"), fmt.fido2_header(key, 1, b""),
        fmt.fido2_header(key, 0, pattern(1024)),
        bytes([FIDO2]) + tpm.encode()[1:] + fmt.counted(b"\1" + fmt.counted(b"id"))]
    for number, header in enumerate(odd, 1):
        vault.db.execute("INSERT INTO slot VALUES (?, ?, ?, ?)",
                         (number, header, vault.source.bytes(328), b""))
    resealed_root(vault)
    vault.put(b"a", b"1")


text("slot-odd-tpm", "slot/no-such-slot", "a code, where no slot of a TPM has its shape", "",
     on="slots-odd-hardware", tpm_code_hex=CODE.hex(), tpm_shown_hex=bytes(32).hex(),
     tpm_kept_hex=bytes(32).hex())
text("slot-odd-fido2", "slot/no-such-slot", "the same of a security key", "",
     on="slots-odd-hardware", fido2_salt_hex=bytes(32).hex(), fido2_gives_hex=GIVES.hex())
