#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes Fixtures/vectors/vault: the same bytes each time, from seeded randomness.

    make_vectors.py [--unchecked] [DIRECTORY]

Each is then read back, unless --unchecked, and must come out as it says.

A base is a function that fills a new vault; a fault is a function that bends one, through the
writer's own parts or as SQL text, so that exactly one layer has a reason to object.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from kura_format import Source
from kura_vault import Vault
from vector_file import VectorFile, difference, dump_rows, lines

PASSCODE = "correct horse battery staple".encode()
BASES, CASES = {}, []


def base(note, passcode=PASSCODE, recovery=None, secret=None, header=True, is_earlier=False):
    """Registers a good vault named after its function; `secret` is the field to unlock with."""
    def register(fill):
        name = "good-" + fill.__name__.replace("_", "-")
        fields = {"note": note, "expect": "ok"}
        fields |= secret or {"passcode-hex": passcode.hex()}
        BASES[name] = (fill, passcode, recovery, is_earlier)
        CASES.append((name, None, fields, None))
        return fill
    return register


def fault(expect, note, on="three-items", items=False, **fields):
    """Registers a fault named after its function, on the base `good-<on>`."""
    def register(bend):
        name = bend.__name__.replace("_", "-").strip("-")
        said = {key.replace("_", "-"): value for key, value in fields.items()}
        CASES.append((name, "good-" + on, {"note": note, "expect": expect, **said}, bend))
        return bend
    return register


def text(name, expect, note, sql, on="three-items", **fields):
    """Registers a fault that is SQL alone; what `||` joins is made a BLOB again."""
    sql = re.sub(r"SET (\w+) = ([^;=]*\|\|[^;]*?)( WHERE|;)", r"SET \1 = CAST(\2 AS BLOB)\3", sql)
    said = {key.replace("_", "-"): value for key, value in fields.items()}
    CASES.append((name, "good-" + on, {"note": note, "expect": expect, **said}, sql))


def filled(name, directory):
    """A fresh copy of a base; its seed is its name, so it is the same each time."""
    fill, passcode, recovery, is_earlier = BASES[name]
    path = Path(directory) / (name + ".kura")
    path.unlink(missing_ok=True)
    vault = Vault.create(str(path), passcode, recovery, Source(name), page_size=512,
                         is_earlier=is_earlier)
    fill(vault)
    return vault


def preamble(vault):
    """What makes an empty file a vault file: pragmas and tables."""
    pragmas = ["page_size = 512", "application_id = 1263882817", "user_version = 1"]
    tables = [sql for (sql,) in vault.db.execute("SELECT sql FROM sqlite_schema "
                                               "WHERE sql IS NOT NULL ORDER BY rowid")]
    return [f"PRAGMA {p};" for p in pragmas] + [t + ";" for t in tables]


def write(directory, name, fields, items, statements):
    out = [f"-- {key}: {value}" for key, value in fields.items()]
    out += [f"-- {kind}: {line}" for kind, line in items]
    (directory / (name + ".sql")).write_text("\n".join(out + statements) + "\n")


def make_case(directory, scratch, name, base_name, fields, bend):
    if base_name is None:
        vault = filled(name, scratch)
        empty = {table: {} for table in dump_rows(vault.db)}
        sql = preamble(vault) + difference(vault.db, empty, dump_rows(vault.db))
        write(directory, name, fields, lines(vault), sql)
        vault.close()
        return
    fields = {**fields, "base": base_name}
    if isinstance(bend, str) or bend is None:
        sql, items = [bend] if bend else [], []
        if "file-hex" in fields:
            del fields["base"]
    else:
        vault = filled(base_name, scratch)
        before = dump_rows(vault.db)
        more = bend(vault)
        fields |= more if isinstance(more, dict) else {}
        sql = [more] if isinstance(more, str) else difference(vault.db, before, dump_rows(vault.db))
        items = lines(vault) if fields["expect"] == "ok" else []
        items = list(items)
        vault.close()
    write(directory, name, fields, items, sql)


def main(directory, isChecked):
    import vectors_good, vectors_locked, vectors_items, vectors_values, vectors_protected, vectors_owner, vectors_hardware  # noqa: E401,F401,E501
    names = [name for name, *_ in CASES]
    assert len(names) == len(set(names)), "two vectors of one name"
    directory.mkdir(parents=True, exist_ok=True)
    for stale in directory.glob("*.sql"):
        stale.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            make_case(directory, scratch, *case)
        written = sorted(directory.glob("*.sql")) if isChecked else []
        wrong = [check(path, scratch) for path in written]
    wrong = [line for line in wrong if line]
    print("\n".join(wrong + [f"{len(names)} vectors, {len(wrong)} not as expected"]))
    return 1 if wrong else 0


def check(path, scratch):
    """One line on a vector whose outcome in the reference is not what it says."""
    vector = VectorFile(path)
    trial = Path(scratch) / "trial"
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir()
    try:
        first, codes, other = vector.outcome(trial / "vault.kura")
    except Exception as failure:
        raise RuntimeError(vector.name) from failure
    if first != vector.expect or other:
        return f"{vector.name}: expected {vector.expect}, got {codes or first} {other}"
    return None


if __name__ == "__main__":
    sys.modules["make_vectors"] = sys.modules["__main__"]
    places = [Path(word) for word in sys.argv[1:] if word != "--unchecked"]
    places.append(Path(__file__).resolve().parents[2] / "Fixtures/vectors/vault")
    sys.exit(main(places[0], "--unchecked" not in sys.argv))
