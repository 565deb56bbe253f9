#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reference reader and writer of Kura vaults, for tests; see kura-format(5).

    kura_ref.py create VAULT [--passcode-hex H] [--recovery-key TEXT] [--put NAME=HEX]… [--seed S]
    kura_ref.py put VAULT … NAME=HEX…     kura_ref.py rm VAULT … NAME…
    kura_ref.py dump VAULT …              JSON: every item, its history, long values as digests
    kura_ref.py lines VAULT …             the `item` and `old` lines of a vector file
    kura_ref.py seen VAULT … --seen FILE  epoch and fingerprint of the newest slot of a seen file
    kura_ref.py log VAULT … --log FILE [--seen FILE]   a machine's access log, one entry a line
    kura_ref.py rotate VAULT … [--until TAG]   a rotation, to its end or to a tag
    kura_ref.py forget VAULT …            a fault: drops the retiring data keys, needed or not
    kura_ref.py skip VAULT …              a fault: a rotation's cursor goes to its end
    kura_ref.py generations VAULT …       the generations of ring and rows, one a line
    kura_ref.py verify VAULT …            one `layer/error` a line; status 12 when there is any

A secret in argv is fine here and nowhere else: these vaults hold test data.
"""

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

import kura_format as fmt
import kura_rotation as rotation
from kura_format import Refused
from kura_log import Log
from kura_record import newest_seen
from kura_taken import TakenVault
from kura_vault import Vault
from kura_verify import findings
from vector_file import lines, pattern


def digest(data):
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def entry(vault, row):
    """What a reader can say of one revision; small values as hex, long ones as a digest."""
    meta = vault.meta(row)
    fact = {"revision": row.revision, "kind": row.kind, "class": row.cls, "size": meta.size,
            "created": meta.created, "modified": meta.modified,
            "attributes": {k.hex(): v.hex() for k, v in meta.attributes.items()}}
    if row.kind != 1 and (row.cls == 0 or vault.protected_secret):
        value = vault.value(row)
        fact |= {"value": value.hex()} if len(value) <= 1024 else {"digest": digest(value)}
    return fact


def dump(vault):
    items = {}
    for row, meta in vault.list():
        fact = entry(vault, row)
        fact["history"] = [entry(vault, vault.old_row(row, n)) for n, _ in vault.history(row)]
        items[meta.name.hex()] = fact
    root = vault.root
    return {"vault": vault.vault_id.hex(), "epoch": root.epoch, "items": root.items,
            "deleted": root.deleted, "depth": root.depth, "fingerprint": vault.fingerprint().hex(),
            "policy": {str(k): v for k, v in vault.ring.policy.items()}, "content": items}


def pair(text):
    name, _, value = text.rpartition("=")
    return name.encode(), bytes.fromhex(value)


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=["create", "put", "rm", "dump", "lines", "seen", "log",
                                         "rotate", "forget", "skip", "generations", "verify"])
    parser.add_argument("vault")
    parser.add_argument("operands", nargs="*")
    parser.add_argument("--passcode-hex", type=bytes.fromhex)
    parser.add_argument("--recovery-key")
    parser.add_argument("--put", action="append", default=[], type=pair, metavar="NAME=HEX")
    parser.add_argument("--seed")
    parser.add_argument("--until", type=bytes.fromhex)
    parser.add_argument("--seen", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--page-size", type=int, default=16384)
    parser.add_argument("--large", type=pair, action="append", default=[], metavar="NAME=HEXLEN",
                        help="store a patterned value of this length (big-endian hex)")
    return parser.parse_intermixed_args(arguments)


def show_log(vault, options):
    """Entries as `number verb code name`, then what is wrong."""
    seen = options.seen and newest_seen(options.seen.read_bytes(), vault.keys.seen, vault.vault_id)
    log = Log(options.log.read_bytes(), vault.keys.log, vault.vault_id,
              seen.log_head if seen else fmt.ZERO32)
    for one in log.entries:
        print(one.number, one.verb, one.code, one.name.decode(), sep=" ")
    print(*log.findings, sep="\n", end="\n" if log.findings else "")
    return 12 if log.findings else 0


def reopened(*credentials):
    """A vault of either format."""
    try:
        return Vault.open(*credentials)
    except Refused as refusal:
        if refusal.code != "file/newer-format":
            raise
        return TakenVault.open(*credentials)


def run(options):
    recovery = options.recovery_key and fmt.recovery_key(options.recovery_key)
    source = fmt.Source(options.seed)
    if options.verb == "create":
        vault = Vault.create(options.vault, options.passcode_hex, recovery, source,
                             page_size=options.page_size)
    else:
        vault = reopened(options.vault, options.passcode_hex, recovery, source)
    try:
        if options.verb == "rm":
            for name in options.operands:
                vault.remove(name.encode())
        if options.verb in ("create", "put"):
            for name, value in options.put + [pair(text) for text in options.operands]:
                vault.put(name, value)
            for name, length in options.large:
                vault.put(name, pattern(int.from_bytes(length, "big")))
        if options.verb == "dump":
            json.dump(dump(vault), sys.stdout, indent=1, sort_keys=True)
            print()
        if options.verb == "seen":
            slot = newest_seen(options.seen.read_bytes(), vault.keys.seen, vault.vault_id)
            print(slot.epoch, slot.fingerprint.hex())
        if options.verb == "log":
            return show_log(vault, options)
        if options.verb == "lines":
            for kind, line in lines(vault):
                print(f"{kind}: {line}")
        if options.verb == "rotate":
            rotation.begin(vault)
            rotation.go_on(vault, options.until or rotation.LAST)
            if not options.until:
                rotation.end(vault)
        if options.verb in ("forget", "skip"):
            with vault.change():
                (rotation.forget if options.verb == "forget" else rotation.skip)(vault)
        if options.verb == "generations":
            print(*sorted(rotation.generations(vault)), sep="\n")
        if options.verb == "verify":
            found = list(findings(vault))
            for finding in found:
                print(finding)
            return 12 if found else 0
        return 0
    finally:
        vault.close()


def main(arguments):
    os.umask(0o077)
    try:
        return run(parsed(arguments))
    except Refused as refusal:
        print(f"kura_ref: {refusal}", file=sys.stderr)
        return 12


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
