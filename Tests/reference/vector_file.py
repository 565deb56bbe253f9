# SPDX-License-Identifier: MIT
"""Vector files: SQL scripts whose comment lines say what they are and what must come of them.

    -- note: …            the cause, for people
    -- expect: ok | layer/error
    -- base: NAME         run NAME.sql first
    -- passcode-hex: H    (or recovery-key: TEXT, or key-file-hex: H) what to unlock with, as typed
    -- tpm-code-hex: H    or the code of a TPM's slot, or none; the TPM gives tpm-kept-hex for tpm-shown-hex, or for nothing
    -- fido2-salt-hex: H  or a security key, which gives fido2-gives-hex for this salt
    -- seen-hex: H        the 1,024 bytes of the seen file, when there is one
    -- file-hex: H        the whole file, in place of any SQL
    -- item: NAME-HEX revision=N kind=N class=N size=N value=HEX|pattern [KEY-HEX:VALUE-HEX]…
    -- old: the same for each kept earlier revision, then of=NAME-HEX of the item it belongs to

A vector without items of its own takes its base's: each item must read as said there, or fail.
"""

import sqlite3
from pathlib import Path

from kura_format import ByKey, ByTPM, Refused, recovery_key
from kura_vault import Vault
from kura_verify import findings

TABLES = {"part": 1, "slot": 1, "item": 1, "history": 2, "chunk": 2, "loose": 1, "bucket": 1,
          "node": 1}
MANY = ("item", "old")


class VectorFile:
    def __init__(self, path):
        self.path, self.name = Path(path), Path(path).stem
        self.fields, self.items, sql = {}, [], []
        for line in self.path.read_text().splitlines():
            if not line.startswith("-- "):
                sql.append(line)
                continue
            key, _, value = line[3:].partition(": ")
            if key in MANY:
                self.items.append((key, value))
            else:
                self.fields[key] = value
        self.sql = "\n".join(sql)
        base = self.fields.get("base")
        self.base = VectorFile(self.path.with_name(base + ".sql")) if base else None

    @property
    def expect(self):
        return self.fields["expect"]

    def expected_items(self):
        return self.items or (self.base.expected_items() if self.base else [])

    def field(self, key):
        """A field of this vector, else of its base; secrets go together."""
        secrets = ("passcode-hex", "recovery-key", "key-file-hex", "tpm-code-hex", "fido2-salt-hex")
        if key in self.fields or not self.base \
                or (key in secrets and any(s in self.fields for s in secrets)):
            return self.fields.get(key)
        return self.base.field(key)

    def scripts(self):
        return (self.base.scripts() if self.base else []) + [self.sql]

    def build(self, path):
        if "file-hex" in self.fields:
            Path(path).write_bytes(bytes.fromhex(self.fields["file-hex"]))
            return
        db = sqlite3.connect(path, isolation_level=None)
        for script in self.scripts():
            db.executescript(script)
        db.close()

    def open(self, path):
        def raw(key): return None if self.field(key) in (None, "none") else bytes.fromhex(self.field(key))
        text = self.field("recovery-key")
        hardware = None
        if self.field("tpm-code-hex") is not None:
            hardware = ByTPM(raw("tpm-code-hex"), raw("tpm-shown-hex"), raw("tpm-kept-hex"))
        elif self.field("fido2-salt-hex") is not None:
            hardware = ByKey(raw("fido2-salt-hex"), raw("fido2-gives-hex"))
        return Vault.open(str(path), raw("passcode-hex"), text and recovery_key(text),
                          seen=raw("seen-hex"), key_file=raw("key-file-hex"), hardware=hardware)

    def outcome(self, path):
        """(code of the first refusal or "ok", codes of all, items that read otherwise)."""
        try:
            self.build(path)
            vault = self.open(path)
        except Refused as refusal:
            return refusal.code, [refusal.code], []
        codes, other = [], []
        expected = dict.fromkeys(self.expected_items())
        for kind, line in expected:
            try:
                if read_line(vault, kind, line) != line:
                    other.append(line)
            except Refused as refusal:
                codes.append(refusal.code)
        codes += [finding.code for finding in findings(vault)]
        if not codes and self.expect == "ok":
            other += [line for kind, line in lines(vault) if (kind, line) not in expected]
        vault.close()
        return codes[0] if codes else "ok", codes, other


def pattern(count):
    """The long test value both sides know: byte i is (i * 31 + i / 256) mod 256."""
    return bytes((i * 31 + (i >> 8)) & 255 for i in range(count))


def item_line(vault, row):
    meta = vault.meta(row)
    value = "protected" if row.cls == 1 and vault.protected_secret is None else vault.value(row)
    if isinstance(value, bytes):
        value = "pattern" if len(value) > 256 and value == pattern(len(value)) else value.hex()
    pairs = sorted(dict(meta.attributes).items())       # a list in format 2
    attributes = "".join(f" {k.hex()}:{v.hex()}" for k, v in pairs)
    return (f"{meta.name.hex()} revision={row.revision} kind={row.kind} class={row.cls} "
            f"size={meta.size} value={value}{attributes}")


def lines(vault):
    """Every ("item" or "old", line) of a vault."""
    for row, meta in vault.list():
        if row.kind == 3:
            continue            # what is left of a purged item
        yield "item", item_line(vault, row)
        for number, _ in vault.history(row):
            yield "old", item_line(vault, vault.old_row(row, number)) + f" of={meta.name.hex()}"


def read_line(vault, kind, line):
    """What the vault says today where `line` was written; `Refused` when it will not say."""
    of = line.split(" of=")[1] if kind == "old" else ""
    row = vault.row(vault.tag(bytes.fromhex(of or line.split()[0])))
    if row is None:
        raise Refused("item", "not-found")
    if kind == "item":
        return item_line(vault, row)
    row = vault.old_row(row, int(line.split("revision=")[1].split()[0]))
    if row is None:
        raise Refused("history", "not-found")
    return item_line(vault, row) + f" of={of}"


def dump_rows(db):
    """{table: {primary key: row}}"""
    return {table: {row[:width]: row for row in db.execute(f"SELECT * FROM {table}")}
            for table, width in TABLES.items()}


def literal(value):
    return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)


def difference(db, before, after):
    """SQL that makes `after` of `before`, one statement a row."""
    statements = []
    for table, width in TABLES.items():
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")][:width]
        for key in sorted(before[table].keys() - after[table].keys()):
            where = " AND ".join(f"{c} = {literal(v)}" for c, v in zip(columns, key))
            statements.append(f"DELETE FROM {table} WHERE {where};")
        for key, row in sorted(after[table].items()):
            if before[table].get(key) != row:
                values = ", ".join(map(literal, row))
                statements.append(f"INSERT OR REPLACE INTO {table} VALUES ({values});")
    return statements
