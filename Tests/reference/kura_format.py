# SPDX-License-Identifier: MIT
"""Kura vault format 1: sealing, keys, encodings and tree hashes, written from kura-format(5) alone.

Nothing here was taken from the Swift engine, and nothing here is fast or hardened: it is the second
opinion that the engine is held against. Every refusal is a `Refused` that names the layer.
"""

import hashlib
import os
import struct
import unicodedata
from dataclasses import dataclass, field

from argon2.low_level import Type, hash_secret_raw
from nacl import bindings as sodium
from nacl.exceptions import CryptoError

APPLICATION_ID = 0x4B555241
FORMAT = 1
SEAL_OVERHEAD = 72
CHUNK_SIZE = 65536
MAX_META = 65536
MAX_SLOTS = 16
MAX_ARGON2_SLOTS = 4
MAX_SLOT_COLUMN = 65536
SLOT_KEY, SLOT_HALF = 328, 104
ZERO32 = bytes(32)
PASSCODE, RECOVERY_KEY, KEY_FILE, LOCAL, TPM, FIDO2 = 1, 2, 3, 4, 5, 6
DISABLED = 7
LATER = 256     # no kind of a file: one of another shape than this release's
HEADER, RING, ROOT = 0, 1, 2
GIB = 1 << 30


class Refused(Exception):
    """A vault, record or secret was refused; `layer/error` is what vectors name in `expect:`."""

    def __init__(self, layer, error, where=""):
        super().__init__(f"{layer}/{error}" + (f" ({where})" if where else ""))
        self.layer, self.error, self.where = layer, error, where

    @property
    def code(self):
        return f"{self.layer}/{self.error}"


class WrongKey(Exception):
    """The commitment of a sealed record differs: another key, nonce or associated data."""


class Damaged(Exception):
    """The commitment agrees but the ciphertext does not, or a plaintext breaks its layout."""


class Source:
    """Random bytes and the time: real, or from a seed so that vectors come out the same."""

    def __init__(self, seed=None, start_ms=1_760_000_000_000):
        self.seed, self.counter, self.now = seed, 0, start_ms

    def bytes(self, count):
        if self.seed is None:
            return os.urandom(count)
        out = b""
        while len(out) < count:
            message = self.seed.encode() + struct.pack("<Q", self.counter)
            out += hashlib.blake2b(message, person=b"kura vectors").digest()
            self.counter += 1
        return out[:count]

    def time(self):
        if self.seed is None:
            import time
            return time.time_ns() // 1_000_000
        self.now += 1000
        return self.now


# --- Hash, seal, padding ------------------------------------------------------------------------

def keyed_hash(key, count, *parts):
    state = hashlib.blake2b(digest_size=count, key=key)
    for part in parts:
        state.update(part)
    return state.digest()


def u8(n): return struct.pack("<B", n)
def u16(n): return struct.pack("<H", n)
def u32(n): return struct.pack("<I", n)
def u64(n): return struct.pack("<Q", n)


def one_use_key(key, nonce, ad):
    okm = keyed_hash(key, 64, b"kura1/seal", nonce, u32(len(ad)), ad)
    return okm[:32], okm[32:]


def seal(key, ad, message, nonce):
    one_use, commitment = one_use_key(key, nonce, ad)
    box = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(message, ad, bytes(24), one_use)
    return nonce + commitment + box


def unseal(key, ad, sealed):
    if len(sealed) < SEAL_OVERHEAD:
        raise Damaged("shorter than a seal")
    one_use, commitment = one_use_key(key, sealed[:24], ad)
    if commitment != sealed[24:56]:
        raise WrongKey()
    try:
        return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
            sealed[56:], ad, bytes(24), one_use)
    except CryptoError:
        raise Damaged("ciphertext") from None


def padded_count(length):
    """P(length): the next multiple of 256 up to 4,096, Padmé beyond."""
    if length <= 4096:
        return max(256, -(-length // 256) * 256)
    exponent = length.bit_length() - 1
    step = 1 << (exponent - exponent.bit_length())
    return -(-length // step) * step


def pad(message):
    return message + b"\x80" + bytes(padded_count(len(message) + 1) - len(message) - 1)


def unpad(padded):
    bare = padded.rstrip(b"\0")
    if not bare.endswith(b"\x80") or padded_count(len(bare)) != len(padded):
        raise Damaged("padding")
    return bare[:-1]


class Reader:
    """Takes fields off the front of a plaintext; what is left over is damage."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Damaged("too short")
        self.at += count
        return self.data[self.at - count:self.at]

    def u8(self): return self.take(1)[0]
    def u16(self): return int.from_bytes(self.take(2), "little")
    def u32(self): return int.from_bytes(self.take(4), "little")
    def u64(self): return int.from_bytes(self.take(8), "little")

    def zeros(self, count):
        if any(self.take(count)):
            raise Damaged("reserved bytes are not zero")

    def end(self):
        if self.at != len(self.data):
            raise Damaged("trailing bytes")


# --- Names, passcodes, recovery keys ------------------------------------------------------------

def decoded_text(raw, layer, refused):
    """Text of UTF-8 without characters of the categories `refused`."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(layer, "not-utf8") from None
    if any(unicodedata.category(c) in refused for c in text):
        raise Refused(layer, "control")
    return text


def normal_name(raw, refused=("Cc", "Cn")):
    """A name that a user gives as NFC bytes, or `Refused` under the layer `name`."""
    text = unicodedata.normalize("NFC", decoded_text(raw, "name", refused))
    name = text.encode("utf-8")
    if not 1 <= len(name) <= 1024:
        raise Refused("name", "length")
    if any(part in ("", ".", "..") for part in text.split("/")):
        raise Refused("name", "component")
    return name


def check_stored_text(raw, shortest, longest):
    """A stored label or attribute key: NFC, no control characters, a length within bounds."""
    try:
        text = decoded_text(raw, "text", ("Cc",))
    except Refused as reason:
        raise Damaged(str(reason)) from None
    if not shortest <= len(raw) <= longest or unicodedata.normalize("NFC", text) != text:
        raise Damaged("text")


def prepared_passcode(raw):
    """RFC 8265 OpaqueString as the format has it: spaces folded, NFC, no control characters."""
    text = decoded_text(raw, "passcode", ("Cc", "Cn"))
    text = "".join(" " if unicodedata.category(c) == "Zs" else c for c in text)
    passcode = unicodedata.normalize("NFC", text).encode("utf-8")
    if not 1 <= len(passcode) <= 1024:
        raise Refused("passcode", "length")
    return passcode


ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_EXP = [1]
for _ in range(30):
    _EXP.append((_EXP[-1] << 1) ^ (0b100101 if _EXP[-1] & 16 else 0))
_LOG = {value: i for i, value in enumerate(_EXP)}


def _gf_mul(a, b):
    return _EXP[(_LOG[a] + _LOG[b]) % 31] if a and b else 0


def _syndromes(word):
    s1 = s2 = 0
    for i, value in enumerate(word):
        s1 ^= value
        s2 ^= _gf_mul(_EXP[i], value)
    return s1, s2


def _checks(word):
    """c1, c2 with c1 + c2 = S1 and α^16 c1 + α^17 c2 = S2 over the 16 data symbols."""
    s1, s2 = _syndromes(word)
    inverse = _EXP[(31 - _LOG[_EXP[16] ^ _EXP[17]]) % 31]
    c1 = _gf_mul(s2 ^ _gf_mul(_EXP[17], s1), inverse)
    return c1, s1 ^ c1


def recovery_text(key):
    bits = int.from_bytes(key, "big")
    data = [(bits >> (155 - 5 * i)) & 31 for i in range(32)]
    even, odd = _checks(data[0::2]), _checks(data[1::2])
    symbols = data + [even[0], odd[0], even[1], odd[1]]
    text = "".join(ALPHABET[s] for s in symbols)
    return "-".join(text[i:i + 4] for i in range(0, 36, 4))


def recovery_key(text):
    """The 20 bytes of a typed recovery key; a typo is refused with the group (1…9) it is in."""
    fold = str.maketrans("OIL", "011", " -")
    symbols = [ALPHABET.find(c) for c in text.upper().translate(fold)]
    if -1 in symbols:
        raise Refused("recovery-key", "symbol", f"group {symbols.index(-1) // 4 + 1}")
    if len(symbols) != 36:
        raise Refused("recovery-key", "length")
    for lane in (0, 1):
        word = symbols[lane:32:2] + [symbols[32 + lane], symbols[34 + lane]]
        s1, s2 = _syndromes(word)
        if s1 or s2:
            at = (_LOG[s2] - _LOG[s1]) % 31 if s1 and s2 else 18
            where = f"group {(2 * at + lane) // 4 + 1}" if at < 18 else "unknown"
            raise Refused("recovery-key", "typo", where)
    bits = 0
    for symbol in symbols[:32]:
        bits = bits << 5 | symbol
    return bits.to_bytes(20, "big")


# --- Keys and slots -----------------------------------------------------------------------------

class Keys:
    """The vault key and its subkeys, one label a purpose."""

    def __init__(self, vault_key, vault_id):
        self.vault_key, self.vault_id = vault_key, vault_id
        for purpose in ("name", "ring", "tree", "root", "seen", "log"):
            label = b"kura1/" + purpose.encode() + vault_id
            setattr(self, purpose, keyed_hash(vault_key, 32, label))


@dataclass
class SlotHeader:
    kind: int
    kdf: int
    passes: int
    memory: int
    salt: bytes
    slot_id: bytes

    def encode(self):
        return struct.pack("<BBHIQ", self.kind, self.kdf, 0, self.passes, self.memory) \
            + self.salt + self.slot_id

    @staticmethod
    def decode(data):
        """Refuses what is malformed before anything is allocated or derived."""
        if len(data) > LOCAL and data[0] == DISABLED:
            if len(data) != 48 or any(data[1:32]):
                raise Refused("slot", "damaged", "the header of a disabled slot")
            return SlotHeader(DISABLED, 0, 0, 0, data[16:32], data[32:])
        if len(data) > LOCAL and data[0] > LOCAL and 48 <= len(data) <= MAX_SLOT_COLUMN:
            return SlotHeader.of_hardware(data) or SlotHeader(
                LATER, 0, 0, 0, data[16:32], data[32:48])
        if len(data) != 48:
            raise Refused("slot", "damaged", "length")
        kind, kdf, zero, passes, memory = struct.unpack("<BBHIQ", data[:16])
        if zero or not 1 <= kind <= LOCAL or kdf > 1 or (kdf == 0 and (passes or memory)):
            raise Refused("slot", "damaged", "fields")
        if (kind in (PASSCODE, LOCAL)) != (kdf == 1):
            raise Refused("slot", "damaged", "kdf of the kind")
        if kdf == 1 and (passes == 0 or memory < 8192 or memory % 1024):
            raise Refused("slot", "damaged", "a cost that Argon2id does not have")
        return SlotHeader(kind, kdf, passes, memory, data[16:32], data[32:48])

    @staticmethod
    def of_hardware(data):
        """One of a TPM or a security key; None where it is of another shape."""
        kind, kdf, zero, passes, memory = struct.unpack("<BBHIQ", data[:16])
        parts = hardware_parts(kind, data[48:])
        cost = passes >= 1 and memory >= 8192 and memory % 1024 == 0
        if not parts or zero or not (cost if kdf == 1 else kdf == passes == memory == 0) \
                or (kind == FIDO2 and kdf):
            return None
        return SlotHeader(kind, kdf, passes, memory, data[16:32], data[32:48])

    def check_columns(self, key, protected):
        """Refuses lengths that the sealed columns of this kind do not have."""
        if self.kind == DISABLED:
            fits = 0 < len(key) <= MAX_SLOT_COLUMN and not protected
        elif self.kind == LATER:
            fits = max(len(key), len(protected)) <= MAX_SLOT_COLUMN
        else:
            fits = len(key) == SLOT_KEY and len(protected) in (
                (SLOT_HALF,) if self.kind in (PASSCODE, RECOVERY_KEY) else (0, SLOT_HALF))
        if not fits:
            raise Refused("slot", "damaged", "columns")

    def is_affordable(self):
        return self.kdf == 0 or (self.passes <= 16 and self.memory <= 2 * GIB
                                 and self.passes * self.memory <= 8 * GIB)

    def secret(self, credential):
        """The slot's 32-byte secret; `credential` is prepared passcode or recovery key bytes."""
        if self.kind == PASSCODE:
            return hash_secret_raw(credential, self.salt, self.passes, self.memory // 1024, 1, 32,
                                   Type.ID, 19)
        if self.kind == RECOVERY_KEY:
            return keyed_hash(credential, 32, b"kura1/recovery", self.salt)
        size = u64(len(credential))
        return keyed_hash(b"", 32, b"kura1/key-file", self.salt, size, credential)


def counted(part):
    return struct.pack("<H", len(part)) + part


def tpm_header(front, storage_key, public, private):
    """A header of kind 5: its 48 bytes, and behind them what the TPM made."""
    return front.encode() + counted(b"".join(map(counted, (storage_key, public, private))))


def fido2_header(front, flags, credential):
    """A header of kind 6: its 48 bytes, and behind them what the security key made."""
    return front.encode() + counted(bytes([flags]) + counted(credential))


def hardware_parts(kind, data):
    """What stands behind the 48 bytes of kind 5 or 6; None where that is of another shape."""
    def take(data, most):
        count = int.from_bytes(data[:2], "little")
        fits = len(data) >= 2 and count <= min(most, len(data) - 2)
        return (data[2:2 + count], data[2 + count:]) if fits else (None, b"?")
    body, rest = take(data, 2048)
    if body is None or rest or kind not in (TPM, FIDO2):
        return None
    parts = []
    if kind == FIDO2:
        if not body or body[0] > 1:
            return None
        parts, body = [body[:1]], body[1:]
    for _ in range(3 if kind == TPM else 1):
        part, body = take(body, 680 if kind == TPM else 1023)
        parts.append(part)
    return None if body or not all(parts) else parts


def tpm_derived(code, front):
    """A: what Argon2id makes of a prepared code."""
    return hash_secret_raw(code, front.salt, front.passes, front.memory // 1024, 1, 32, Type.ID, 19)


def tpm_auth(derived, vault_id, slot_id):
    """What the TPM is shown for a code."""
    shown = keyed_hash(derived, 32, b"kura1/tpm-auth", vault_id, slot_id)
    return shown[:31] + bytes([shown[31] | 1])


def tpm_secret(kept, derived, front, vault_id):
    """The slot's secret, of what the TPM gave back; `derived` is None for a slot that takes no code."""
    if derived is None:
        return keyed_hash(kept, 32, b"kura1/tpm-none", front.salt)
    mix = keyed_hash(derived, 32, b"kura1/tpm-mix", vault_id, front.slot_id)
    return keyed_hash(kept, 32, b"kura1/tpm", mix)


class ByTPM:
    """A code, or None for none, and the TPM: what it gives, and for what."""

    def __init__(self, code, shown, kept):
        self.code, self.shown, self.kept = code, shown, kept

    def fits(self, front):
        return (self.code is not None) == (front.kdf == 1)

    def secret(self, front, vault_id):
        """The slot's secret; None where the TPM says that the code is wrong."""
        if self.code is None:
            return tpm_secret(self.kept, None, front, vault_id)
        derived = tpm_derived(prepared_passcode(self.code), front)
        if tpm_auth(derived, vault_id, front.slot_id) != self.shown:
            return None
        return tpm_secret(self.kept, derived, front, vault_id)


class ByKey:
    """A security key: what it gives, and for which salt."""

    def __init__(self, salt, gives):
        self.salt, self.gives = salt, gives

    def fits(self, _):
        return True

    def secret(self, front, vault_id):
        asked = fido2_salt(front, vault_id)
        return keyed_hash(self.gives, 32, b"kura1/fido2") if asked == self.salt else None


def fido2_salt(front, vault_id):
    return keyed_hash(b"", 32, b"kura1/fido2-salt", vault_id, front.slot_id, front.salt)


def slot_keys(secret, vault_id, header):
    return (keyed_hash(secret, 32, b"kura1/kek", vault_id, header),
            keyed_hash(secret, 32, b"kura1/kek-protected", vault_id, header))


def slot_payload(vault_key, created, label):
    return vault_key + u64(created) + u16(len(label)) + label


def read_slot_payload(data):
    reader = Reader(data)
    vault_key, created = reader.take(32), reader.u64()
    label = reader.take(reader.u16())
    reader.end()
    check_stored_text(label, 0, 64)
    return vault_key, created, label.decode()


def read_header(data, newest=FORMAT):
    if data[:4] != b"KURA":
        raise Refused("file", "not-a-vault", "magic")
    version = int.from_bytes(data[4:6], "little")
    if version > newest:
        raise Refused("header", "newer-format")
    if len(data) != 24 or version != newest or data[6:8] != b"\0\0":
        raise Refused("header", "damaged")
    return data[8:]


@dataclass
class Ring:
    """Generations as (number, state, created, key), state 1 active or 2 retiring."""
    generations: list
    protected_public: bytes
    work: int = 0
    cursor: bytes = bytes(16)
    policy: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)  # (slot id, created, flags, label, place)

    def encode(self):
        out = u8(2 if self.notes else 1) + u16(len(self.generations))
        for number, state, created, key in self.generations:
            out += u32(number) + u8(state) + u64(created) + key
        out += self.protected_public + u8(self.work) + self.cursor + u16(len(self.policy))
        out += b"".join(u8(k) + u64(v) for k, v in sorted(self.policy.items()))
        if self.notes:
            out += u8(len(self.notes))
        return out + b"".join(map(Ring.encode_note, self.notes))

    @staticmethod
    def encode_note(note):
        slot, created, flags, label, place = note
        return slot + u64(created) + u8(flags) + u16(len(label)) + label + u16(len(place)) + place

    @staticmethod
    def decode_note(reader):
        note = (reader.take(16), reader.u64(), reader.u8(), reader.take(reader.u16()),
                reader.take(reader.u16()))
        _, _, flags, label, place = note
        check_stored_text(label, 0, 64)
        if flags > 1 or len(place) > 1024 or 0 in place:
            raise Damaged("slot note")
        return note

    @staticmethod
    def decode(data):
        reader = Reader(data)
        layout = reader.u8()
        if layout not in (1, 2):
            raise Damaged("layout")
        generations = [(reader.u32(), reader.u8(), reader.u64(), reader.take(32))
                       for _ in range(reader.u16())]
        ring = Ring(generations, reader.take(32), reader.u8(), reader.take(16))
        pairs = [(reader.u8(), reader.u64()) for _ in range(reader.u16())]
        ring.policy = dict(pairs)
        if layout == 2:
            count = reader.u8()
            if not 1 <= count <= 16:
                raise Damaged("slot notes")
            ring.notes = [Ring.decode_note(reader) for _ in range(count)]
            if any(a[0] >= b[0] for a, b in zip(ring.notes, ring.notes[1:])):
                raise Damaged("slot notes order")
        reader.end()
        states = [state for _, state, _, _ in generations]
        if states.count(1) != 1 or set(states) - {1, 2} or ring.work > 1:
            raise Damaged("states")
        numbers = [0] + [number for number, *_ in generations]
        if any(a >= b for a, b in zip(numbers, numbers[1:])) or len(generations) > 256:
            raise Damaged("generations")
        if [k for k, _ in pairs] != sorted(ring.policy) or len(pairs) > 255:
            raise Damaged("policy order")
        return ring

    @property
    def active(self):
        return next(number for number, state, _, _ in self.generations if state == 1)

    def key(self, generation):
        for number, _, _, key in self.generations:
            if number == generation:
                return key
        raise Damaged("no such generation")
