# SPDX-License-Identifier: MIT
"""Moving in, beside keepassxc-cli's import of the same entries, and two copies that become one."""

import json
import os
import shutil
import statistics
import time

from ground import Failed, item, secret
from stores.keepassxc import exported
from values import Large

COUNT = 100_000
DIFFERENCES = 10


def took(ground, *command, **more):
    """How long a command takes, in milliseconds; it must succeed."""
    begin = time.monotonic()
    ground.output(*command, **more)
    return (time.monotonic() - begin) * 1e3


def sources(ground, count):
    """The same entries in three forms; a title of a table is no path."""
    table, lines, tree = (ground.here / name for name in ("store.csv", "store.lines", "store.xml"))
    with table.open("w") as file:
        file.write("name,url,username,password\n")
        for number in range(count):
            file.write(f"{item(number).replace('/', ' ')},,,{secret(number)}\n")
    with lines.open("w") as file:
        for number in range(count):
            file.write(json.dumps({"name": item(number), "value": secret(number)}) + "\n")
    with tree.open("w") as file:
        file.writelines(exported(count))
    return table, lines, tree


def imports(ground, vault, count):
    """Each into a new vault or database, in turn."""
    table, lines, tree = sources(ground, count)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    twice = ground.file("import-twice", "eleven quiet storehouses\n" * 2)
    runs = 3 if ground.quick else 5
    times = {"csv": [], "json-lines": [], "keepassxc-cli": []}
    for number in range(runs):
        for form, kind, source in (("csv", "chrome-csv", table), ("json-lines", "json-lines", lines)):
            name = ["--vault", f"{form}-{number}"]
            vault.call(*name, "init", "--no-recovery-key", "--weak-kdf", "--kdf-memory", "64KiB",
                       "--kdf-passes", "1", "--passcode-file", vault.passcode)
            vault.call(*name, "unlock", "--passcode-file", vault.passcode)
            times[form].append(took(ground, vault.program, "-q", *name, "import", kind, source))
            vault.call(*name, "lock")
        database = ground.here / f"import-{number}.kdbx"
        times["keepassxc-cli"].append(
            took(ground, ground.tool("feed"), twice, "keepassxc-cli", "import", "-q", "-p", tree, database))
        database.unlink()
    for form, all_of in times.items():
        ground.figures.set(f"import/{count}/{form}", statistics.median(all_of), runs)


def merges(ground, vault, count):
    """A merge of a copy that another machine would have, again and again with other differences."""
    lines = ground.here / "store.lines"
    vault.call("put", "--batch", "--file", lines)
    vault.call("attr", item(0), "--secret", "pin", "--file", vault.passcode)
    there = ground.here / "there"
    there.mkdir(mode=0o700)
    copy = there / "copy.kura"
    vault.call("backup", copy)
    elsewhere = dict(os.environ, XDG_STATE_HOME=str(there / "state"))
    (there / "state").mkdir(mode=0o700)
    runs = 5 if ground.quick else 10
    times = []
    for number in range(runs):
        changed = "".join(
            json.dumps({"name": item(number * DIFFERENCES + one), "value": f"changed {number}"}) + "\n"
            for one in range(DIFFERENCES))
        path = ground.file("changed", changed)
        vault.call("--vault", copy, "--no-agent", "put", "--batch", "--replace", "--file", path,
                   "--passcode-file", vault.passcode, env=elsewhere)
        times.append(took(ground, vault.program, "-q", "merge", copy))
    ground.figures.set(f"merge/{count}/kura", statistics.median(times), runs)
    shutil.rmtree(there)


def measure(ground):
    count = COUNT // 10 if ground.quick else COUNT
    ground.say(f"import and merge of {count:,} items")
    vault = Large(ground, "moving")
    try:
        imports(ground, vault, count)
        merges(ground, vault, count)
    except Failed as reason:
        ground.figures.failed.append(f"import and merge: {reason}")
    finally:
        vault.stop()
