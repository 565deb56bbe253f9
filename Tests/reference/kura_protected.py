# SPDX-License-Identifier: MIT
"""The body of a protected item: sealed inside for an X25519 pair, outside like any other."""

from dataclasses import dataclass

from nacl import bindings as sodium

from kura_format import CHUNK_SIZE, Damaged, Reader, WrongKey, keyed_hash, seal, u8, u64, unseal

MANIFEST = 65
INLINE, CHUNKED, INLINE_BY_ID, CHUNKED_BY_ID = 2, 3, 4, 5


@dataclass
class Protected:
    """The revision is a number, or in a vault of format 2 the 16 bytes of an id."""
    revision: int | bytes
    value_id: bytes
    ephemeral: bytes
    inner: bytes

    @property
    def inner_length(self):
        return len(self.inner) - 72

    def encode(self):
        form = CHUNKED if self.value_id else INLINE
        if isinstance(self.revision, bytes):
            return u8(form + 2) + self.revision + self.value_id + self.ephemeral + self.inner
        return u8(form) + u64(self.revision) + self.value_id + self.ephemeral + self.inner

    @staticmethod
    def decode(data, last_form=CHUNKED):
        reader = Reader(data)
        form = reader.u8()
        if not INLINE <= form <= last_form:
            raise Damaged("form")
        revision = reader.u64() if form <= CHUNKED else reader.take(16)
        if revision == 0:
            raise Damaged("revision")
        value_id = reader.take(16) if form in (CHUNKED, CHUNKED_BY_ID) else b""
        body = Protected(revision, value_id, reader.take(32), data[reader.at:])
        if not 1 <= body.inner_length <= CHUNK_SIZE + 1 \
                or (value_id and body.inner_length != MANIFEST):
            raise Damaged("inner length")
        return body

    def ad(self, vault_id, item_id):
        if isinstance(self.revision, bytes):
            return b"\x0c" + vault_id + item_id + self.revision
        return b"\x08" + vault_id + item_id + u64(self.revision)

    def open(self, secret, public, vault_id, item_id):
        """The standard body inside; `secret` and `public` are the pair's halves."""
        try:
            key = shared_key(secret, self.ephemeral, self.ephemeral, public)
            plain = unseal(key, self.ad(vault_id, item_id), self.inner)
        except WrongKey as reason:
            raise Damaged(str(reason)) from None
        inside = plain[17:33] if plain[0] == 1 else b""
        if plain[0] > 1 or inside != self.value_id:
            raise Damaged("another form or value inside")
        return plain


def shared_key(secret, other, ephemeral, public):
    try:
        shared = sodium.crypto_scalarmult(secret, other)
    except Exception:
        raise Damaged("no point") from None
    return keyed_hash(shared, 32, b"kura1/protected", ephemeral, public)


def protect(plain, public, vault_id, item_id, revision, source):
    """A standard body's bytes, sealed for the pair."""
    ephemeral, secret = sodium.crypto_box_seed_keypair(source.bytes(32))
    body = Protected(revision, plain[17:33] if plain[0] == 1 else b"", ephemeral, b"")
    key = shared_key(secret, public, ephemeral, public)
    body.inner = seal(key, body.ad(vault_id, item_id), plain, source.bytes(24))
    return body.encode()
