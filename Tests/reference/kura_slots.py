# SPDX-License-Identifier: MIT
"""What key slots hold, sealed and opened."""

from nacl import bindings as sodium

import kura_format as fmt
from kura_format import (KEY_FILE, PASSCODE, RECOVERY_KEY, Damaged, Refused, WrongKey, pad, seal,
                         unpad, unseal)
from kura_file import File


def seal_slot(keys, header, secret, protected_secret, source, created, label=b""):
    """(key, protected) of a slot row; pass `protected_secret` None for a slot without it."""
    kek, protected_kek = fmt.slot_keys(secret, keys.vault_id, header)
    payload = pad(fmt.slot_payload(keys.vault_key, created, label))
    key = seal(kek, b"\x01" + keys.vault_id + header, payload, source.bytes(24))
    if protected_secret is None:
        return key, b""
    ad = b"\x02" + keys.vault_id + header
    return key, seal(protected_kek, ad, protected_secret, source.bytes(24))


def credential(passcode, recovery, key_file):
    """(slot kind, prepared secret) of the one that was given."""
    if recovery is not None:
        return RECOVERY_KEY, recovery
    if key_file is not None:
        if len(key_file) < 32:
            raise Refused("slot", "key-file-short")
        return KEY_FILE, key_file
    return PASSCODE, fmt.prepared_passcode(passcode)


def unwrap(slots, kind, secret, vault_id):
    """Vault key and what the protected half is sealed in, from the first slot that the secret opens."""
    tried, is_any_left_out = File.candidates(slots, kind)
    for fields, header, key, protected in tried:
        kek, protected_kek = fmt.slot_keys(fields.secret(secret), vault_id, header)
        try:
            plain = unpad(unseal(kek, b"\x01" + vault_id + header, key))
            vault_key = fmt.read_slot_payload(plain)[0]
        except WrongKey:
            continue
        except Damaged as reason:
            raise Refused("slot", "damaged", str(reason)) from None
        return vault_key, (protected, protected_kek, b"\x02" + vault_id + header)
    raise Refused("slot", "kdf-refused" if is_any_left_out else "wrong-passcode")


def protected_half(half, public):
    """The secret half that a slot of a trusted vault holds, and that the ring's public half is of; or None."""
    sealed, key, ad = half
    if not sealed:
        return None
    try:
        secret = unseal(key, ad, sealed)
    except (WrongKey, Damaged) as reason:
        raise Refused("slot", "damaged", f"protected half: {reason}") from None
    if sodium.crypto_scalarmult_base(secret) != public:
        raise Refused("ring", "damaged", "another public half")
    return secret
