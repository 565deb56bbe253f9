# SPDX-License-Identifier: MIT
"""What key slots hold, sealed and opened."""

from nacl import bindings as sodium

import kura_format as fmt
from kura_format import (FIDO2, KEY_FILE, PASSCODE, RECOVERY_KEY, TPM, Damaged, Refused, WrongKey,
                         pad, seal, unpad, unseal)
from kura_file import File


def slot_ad(number, vault_id, header):
    """What stands behind the 48 bytes is bound by the slot's key, which is made of all of it."""
    return bytes([number]) + vault_id + header[:48]


def seal_slot(keys, header, secret, protected_secret, source, created, label=b""):
    """(key, protected) of a slot row; pass `protected_secret` None for a slot without it."""
    kek, protected_kek = fmt.slot_keys(secret, keys.vault_id, header)
    payload = pad(fmt.slot_payload(keys.vault_key, created, label))
    key = seal(kek, slot_ad(1, keys.vault_id, header), payload, source.bytes(24))
    if protected_secret is None:
        return key, b""
    ad = slot_ad(2, keys.vault_id, header)
    return key, seal(protected_kek, ad, protected_secret, source.bytes(24))


def credential(passcode, recovery, key_file, hardware=None):
    """(slot kind, prepared secret) of the one that was given."""
    if hardware is not None:
        return TPM if isinstance(hardware, fmt.ByTPM) else FIDO2, hardware
    if recovery is not None:
        return RECOVERY_KEY, recovery
    if key_file is not None:
        if len(key_file) < 32:
            raise Refused("slot", "key-file-short")
        return KEY_FILE, key_file
    return PASSCODE, fmt.prepared_passcode(passcode)


def unwrap(slots, kind, secret, vault_id):
    """Vault key and what the protected half is sealed in, from the first slot that the secret opens."""
    is_hardware = kind in (TPM, FIDO2)
    fits = [secret.fits] if is_hardware else []
    tried, is_any_left_out = File.candidates(slots, kind, *fits)
    for fields, header, key, protected in tried:
        given = secret.secret(fields, vault_id) if is_hardware else fields.secret(secret)
        if given is None:
            continue
        kek, protected_kek = fmt.slot_keys(given, vault_id, header)
        try:
            plain = unpad(unseal(kek, slot_ad(1, vault_id, header), key))
            vault_key = fmt.read_slot_payload(plain)[0]
        except WrongKey:
            continue
        except Damaged as reason:
            raise Refused("slot", "damaged", str(reason)) from None
        return vault_key, (protected, protected_kek, slot_ad(2, vault_id, header))
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
