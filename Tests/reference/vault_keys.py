#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: vault_keys.py VAULT PASSCODE-FILE [--protected NAME...]

Prints every key of a vault in hexadecimal, one a line: the vault key and its subkeys, the data keys, what
the passcode came to, the keys that open its slot, and the secret half for protected values. With
--protected only those that an unlocked agent has not: that secret half, and the keys of the large values
with these names. The independent reader of the format opens the vault, so that a test knows what to look
for in memory.
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


def protected_keys(path, passcode, names):
    """What an agent lacks after a plain unlock, as bytes."""
    vault = Vault.open(path, passcode=passcode)
    found = [vault.protected_secret]
    for name in names:
        found.append(vault.body(vault.row(vault.tag(name.encode())))[1].value_key)
    return found


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        passcode = file.read()
    if sys.argv[3:4] == ["--protected"]:
        wanted = protected_keys(sys.argv[1], passcode, sys.argv[4:])
    else:
        wanted = all_keys(sys.argv[1], passcode)
    for key in wanted:
        print(key.hex())
