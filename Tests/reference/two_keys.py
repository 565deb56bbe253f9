# SPDX-License-Identifier: MIT
"""One XChaCha20-Poly1305 ciphertext that opens under two keys.

Poly1305 is linear in each block once the keys are known, so one free block of ciphertext is enough
to give both keys the same tag (Len, Grubbs and Ristenpart, USENIX Security 2021). A format that
trusts the tag alone would take such a record for either key's; ours has a commitment.
"""

import struct

from nacl import bindings as sodium

PRIME = (1 << 130) - 5
ROTATIONS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
             (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def _rounds(state):
    s = list(state)
    for _ in range(10):
        for a, b, c, d in ROTATIONS:
            for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                s[x] = (s[x] + s[y]) & 0xFFFFFFFF
                v = s[z] ^ s[x]
                s[z] = (v << turn | v >> (32 - turn)) & 0xFFFFFFFF
    return s


def _poly_key(key):
    """(r, s) of XChaCha20-Poly1305 with a nonce of zeros."""
    constants = struct.unpack("<4I", b"expand 32-byte k")
    hashed = _rounds(constants + struct.unpack("<8I", key) + (0,) * 4)
    state = constants + tuple(hashed[:4] + hashed[12:]) + (0,) * 4
    block = struct.pack("<16I", *[(a + b) & 0xFFFFFFFF for a, b in zip(_rounds(state), state)])
    r = int.from_bytes(block[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    return r, int.from_bytes(block[16:32], "little")


def _blocks(ad, box):
    def padded(data): return data + bytes(-len(data) % 16)
    data = padded(ad) + padded(box) + struct.pack("<QQ", len(ad), len(box))
    return [int.from_bytes(data[i:i + 16], "little") + (1 << 128) for i in range(0, len(data), 16)]


def _accumulate(r, blocks):
    total = 0
    for block in blocks:
        total = (total + block) * r % PRIME
    return total


def colliding_block(first, second, ad, plain, block):
    """`plain` encrypted under `first`, with one 16-byte block of it given up so that the same
    ciphertext and tag also open under `second`."""
    box = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plain, ad, bytes(24), first)[:-16]
    (r1, s1), (r2, s2) = _poly_key(first), _poly_key(second)
    at = -(-len(ad) // 16) + block
    blocks = _blocks(ad, box)
    power = len(blocks) - at
    blocks[at] = 0
    a1, a2 = _accumulate(r1, blocks), _accumulate(r2, blocks)
    slope = pow((pow(r1, power, PRIME) - pow(r2, power, PRIME)) % PRIME, -1, PRIME)
    for carry in range(-8, 9):
        free = (a2 + s2 - a1 - s1 + (carry << 128)) * slope % PRIME - (1 << 128)
        if 0 <= free < 1 << 128:
            blocks[at] = free + (1 << 128)
            tags = [(_accumulate(r, blocks) + s) % (1 << 128) for r, s in ((r1, s1), (r2, s2))]
            if tags[0] == tags[1]:
                changed = bytearray(box)
                changed[16 * block:16 * block + 16] = free.to_bytes(16, "little")
                return bytes(changed) + tags[0].to_bytes(16, "little")
    raise ValueError("no free block fits; try another nonce")
