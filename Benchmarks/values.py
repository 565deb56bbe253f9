# SPDX-License-Identifier: MIT
"""Values of 256 MiB and 1 GiB, against age, cp with fsync, and libsodium alone."""

import os
import shlex

from ground import Failed, Timed, free_bytes, memory
from stores.kura import Kura

SIZES = {"256MiB": 256 << 20, "1GiB": 1 << 30}


class Large(Kura):
    """A vault of its own, whose cheap passcode leaves the agent's peak to the values."""

    def __init__(self, ground, name="large"):
        place = ground.here / name
        (place / "run").mkdir(mode=0o700, parents=True)
        for variable, name in (("DATA_HOME", "data"), ("STATE_HOME", "state"),
                               ("RUNTIME_DIR", "run")):
            os.environ["XDG_" + variable] = str(place / name)
        self.ground, self.program = ground, str(ground.programs / "kura")
        self.passcode = ground.file("passcode", "eleven quiet storehouses")
        self.call("init", "--no-recovery-key", "--weak-kdf", "--kdf-memory", "64KiB",
                  "--kdf-passes", "1", "--passcode-file", self.passcode)
        self.unlock()
        self.call("config", "lock-on-sleep", "off", "--passcode-file", self.passcode)
        self.call("config", "history-depth", "0", "--passcode-file", self.passcode)


def plain(ground, size):
    """A file of random bytes, in the page cache."""
    path = ground.here / "plain"
    with path.open("wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))
    return str(path)


def commands(ground, vault, path):
    """Both directions. `get` and `age -d` write to /dev/null: the disk is put's affair."""
    key = str(ground.here / "age-key")
    if not os.path.exists(key):
        ground.output("age-keygen", "-o", key)
    public = ground.output("age-keygen", "-y", key).strip()
    sealed, copy = str(ground.here / "sealed.age"), shlex.quote(str(ground.here / "copy"))
    ground.output("age", "-r", public, "-o", sealed, path)
    copying = ground.script("copy-durably", f"cp --reflink=never {shlex.quote(path)} {copy}",
                            f"sync {copy}")
    feed = ground.tool("feed")
    file = shlex.quote(os.environ["XDG_DATA_HOME"] + "/kura/default.kura")
    # As a backup, it takes the earlier one's place when it is whole: both want memory for two.
    keeping = ground.script("keep-durably", f"cp --reflink=never {file} {copy}.new", f"sync {copy}.new",
                            f"mv {copy}.new {copy}")
    vault.call("put", "--replace", "--file", path, "large")
    return {
        "put/kura": Timed([feed, path, vault.program, "-q", "put", "--replace", "large"]),
        "put/cp+fsync": Timed([copying]),
        "put/age -r": Timed(["age", "-r", public, "-o", sealed, path]),
        "backup/kura": Timed([vault.program, "-q", "backup", str(ground.here / "backup.kura")]),
        "backup/cp+fsync": Timed([keeping]),
        "get/kura": Timed([vault.program, "get", "large"]),
        "get/age -d": Timed(["age", "-d", "-i", key, sealed]),
    }


def measure_size(ground, vault, name, size):
    figures = ground.figures
    path = plain(ground, size)
    runs = 3 if ground.quick else 5
    every = commands(ground, vault, path)
    copies = {name: every.pop(name) for name in list(every) if name.startswith("backup/")}
    for command, took in ground.hyperfine(every, runs).items():
        direction, who = command.split("/")
        figures.set(f"value/{name}/{direction} {who}", took, runs)
    # In turns: how fast a disk takes a gigabyte changes from one minute to the next.
    runs = 5 if ground.quick else 9
    for command, took in ground.race(runs, **{one: copies[one].command for one in copies}).items():
        figures.set(f"value/{name}/{command.replace('/', ' ')}", took, runs)
    sealing, opening = ground.numbers(ground.tool("sodium"), size)
    figures.set(f"value/{name}/put libsodium alone", sealing)
    figures.set(f"value/{name}/get libsodium alone", opening)
    figures.set(f"peak/{name}/kura get", ground.watch(vault.program, "get", "large")[3])
    figures.set(f"peak/{name}/kura put", ground.watch(
        vault.program, "-q", "put", "--replace", "--file", path, "large")[3])
    figures.set(f"peak/{name}/kura-agent", memory(vault.agent(), "VmHWM"))


def measure(ground):
    vault = Large(ground)
    try:
        for name, size in SIZES.items():
            if ground.quick and name != "256MiB":
                continue
            if free_bytes(ground.here) < 6 * size:
                ground.figures.skipped.append(f"values of {name}: fewer than 6 x that free")
                continue
            ground.say(f"values of {name}")
            try:
                measure_size(ground, vault, name, size)
            except Failed as reason:
                ground.figures.failed.append(f"values of {name}: {reason}")
    finally:
        vault.stop()
