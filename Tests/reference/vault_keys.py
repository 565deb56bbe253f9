#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: vault_keys.py VAULT PASSCODE-FILE

Prints every key of a vault in hexadecimal, one a line: the vault key and its subkeys, the data keys, what
the passcode came to, the keys that open its slot, and the secret half for protected values. The
independent reader of the format opens it, so that a test knows what to look for in memory.
"""

import sys

import kura_format as fmt
from kura_vault import Vault


def all_keys(path, passcode):
    """The keys of a vault, as bytes."""
    vault = Vault.open(path, passcode=passcode)
    keys = vault.keys
    found = [keys.vault_key, keys.name, keys.ring, keys.tree, keys.root, keys.seen, keys.log]
    found += [generation[3] for generation in vault.ring.generations]
    rows = vault.file.rows("SELECT number, header, key, protected FROM slot ORDER BY number")
    for _, encoded, _, protected in rows:
        header = fmt.SlotHeader.decode(encoded)
        if header.kind != fmt.PASSCODE:
            continue
        secret = header.secret(fmt.prepared_passcode(passcode))
        kek, protected_kek = fmt.slot_keys(secret, keys.vault_id, encoded)
        associated = b"\x02" + keys.vault_id + encoded
        found += [secret, kek, protected_kek, fmt.unseal(protected_kek, associated, protected)]
    return found


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        for key in all_keys(sys.argv[1], file.read()):
            print(key.hex())
