# SPDX-License-Identifier: MIT
"""What key slots hold, sealed and opened."""

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
    """Vault key and protected half (None without it) from the first slot that the secret opens."""
    for fields, header, key, protected in File.candidates(slots, kind):
        kek, protected_kek = fmt.slot_keys(fields.secret(secret), vault_id, header)
        try:
            plain = unpad(unseal(kek, b"\x01" + vault_id + header, key))
            vault_key = fmt.read_slot_payload(plain)[0]
        except WrongKey:
            continue
        except Damaged as reason:
            raise Refused("slot", "damaged", str(reason)) from None
        return vault_key, protected_half(protected, protected_kek, header, vault_id)
    raise Refused("slot", "wrong-passcode")


def protected_half(sealed, key, header, vault_id):
    """The secret half out of a slot; None when it is not there. Only its use says it is damaged."""
    try:
        return unseal(key, b"\x02" + vault_id + header, sealed) if sealed else None
    except (WrongKey, Damaged):
        return None
