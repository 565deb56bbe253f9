# SPDX-License-Identifier: MIT
"""Kura, over its agent; the vault grows from size to size."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

from ground import Failed, Timed, free_bytes, item, memory, secret

MEMORY, PASSES = 64 << 20, 3
NEW = "g0000/item-0000005"


def tables(vault):
    """Bytes of pages that each table has: what the bytes on disk are for."""
    with contextlib.closing(sqlite3.connect(f"file:{vault}?immutable=1", uri=True)) as file:
        return file.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()


class Kura:
    name = "kura"

    def __init__(self, ground):
        self.ground = ground
        self.program = str(ground.programs / "kura")
        self.vault = ground.here / "data/kura/default.kura"
        self.socket = ground.here / "run/kura/agent.sock"
        self.passcode = ground.file("passcode", "eleven quiet storehouses")
        self.value = ground.file("value", secret(5))
        self.front = ground.here / "tools/kura-pass"
        self.front.symlink_to(self.program)
        self.keyring = ground.here / "tools/keyring"
        self.keyring.symlink_to(self.program)
        self.items = 0
        self.filled = {}
        try:
            self.call("init", "--no-recovery-key", "--kdf-memory", MEMORY, "--kdf-passes", PASSES,
                      "--passcode-file", self.passcode)
            self.unlock()
            self.call("config", "lock-on-sleep", "off", "--passcode-file", self.passcode)
        except Failed:
            self.stop()
            raise
        self.batch = "--batch" in self.call("help", "put")
        self.relock = ground.script("relock", f"{self.program} -q lock")
        self.renew = ground.script("renew", f"{self.program} -q lock", " ".join(self.unlocking()))

    def call(self, *words, **more):
        return self.ground.output(self.program, "-q", *words, **more)

    def unlocking(self):
        return [self.program, "-q", "unlock", "--idle-timeout", "7d", "--max-session", "30d",
                "--passcode-file", self.passcode]

    def unlock(self, **more):
        self.ground.output(*self.unlocking(), **more)

    def agent(self):
        return json.loads(self.call("agent", "status", "--json"))["pid"]

    def stop(self, **more):
        """Ends the agent; a vault that is closed is one file."""
        try:
            agent = json.loads(self.call("agent", "status", "--json", **more))["pid"]
        except Failed:
            return
        self.call("agent", "stop", **more)
        self.ground.await_("agent stop", lambda: not Path(f"/proc/{agent}").exists())

    # Making it as large as it shall be

    def grow(self, items):
        count = items - self.items
        if self.batch:
            took, how = self.fill_by_batch(self.items, count), "put --batch"
        elif count > 5000 and free_bytes("/dev/shm") > items * 4000:
            took, how = self.fill_in_memory(count), "single puts on tmpfs, then copied,"
        else:
            took, how = self.fill(self.socket, self.vault, count), "single puts"
        self.items, self.filled[items] = items, (count, took)
        self.ground.figures.remarks.append(
            f"kura: filled from {items - count:,} to {items:,} by {how} in {took:.1f} s;"
            " the vault's passcode costs 64 MiB and 3 passes, the least that policy asks for")

    def fill_by_batch(self, first, count):
        lines = self.ground.here / "batch.jsonl"
        with lines.open("w") as file:
            for number in range(first, first + count):
                file.write('{"name":"%s","value":"%s"}\n' % (item(number), secret(number)))
        start = time.monotonic()
        with lines.open("rb") as file:
            self.call("put", "--batch", stdin=file)
        lines.unlink()
        return time.monotonic() - start

    def fill(self, socket, vault, count):
        start = time.monotonic()
        self.ground.output(self.ground.tool("ask"), "fill", socket, vault, self.items, count)
        return time.monotonic() - start

    def fill_in_memory(self, count):
        """One put after another costs one commit each: they are made where a commit is cheap."""
        place = Path(self.ground.output("mktemp", "-d", "/dev/shm/kura-bench.XXXXXX").strip())
        vault = place / "data/kura/default.kura"
        homes = {"XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "run"}
        more = {"env": os.environ | {name: str(place / home) for name, home in homes.items()}}
        try:
            (place / "run").mkdir(mode=0o700)
            vault.parent.mkdir(mode=0o700, parents=True)
            self.stop()
            shutil.copy(self.vault, vault)
            self.unlock(**more)
            took = self.fill(place / "run/kura/agent.sock", vault, count)
            self.stop(**more)
            shutil.copy(vault, self.vault)
        finally:
            self.stop(**more)
            shutil.rmtree(place, ignore_errors=True)
        subprocess.run(["sync", str(self.vault)], check=True)
        self.unlock()
        return took

    # What is timed

    def get(self):
        middle = self.items // 2
        return Timed([self.program, "get", item(middle)], shows=secret(middle).encode())

    def shown(self):
        """What those run that call pass."""
        middle = self.items // 2
        return Timed([str(self.front), "show", item(middle)], shows=secret(middle).encode())

    def answered(self):
        """What pip and uv run."""
        self.call("put", "--replace", "--file", self.value, "keyring/bench/ada")
        return Timed([str(self.keyring), "get", "bench", "ada"], shows=secret(5).encode())

    def put(self):
        return Timed([self.ground.tool("feed"), self.value, self.program, "-q", "put", "--replace",
                      NEW])

    def put_file(self):
        """The same without the process that hands over the value."""
        return [self.program, "-q", "put", "--replace", "--file", self.value, NEW]

    def list(self):
        return Timed([self.program, "list"], shows=item(self.items - 1).encode())

    def find(self):
        wanted = f"item-{self.items // 2:07d}"
        return Timed([self.program, "find", wanted], shows=wanted.encode())

    def unlocked(self):
        return Timed(self.unlocking(), prepare=self.relock)

    def first_get(self):
        return Timed(self.get().command, prepare=self.renew)

    # What it takes

    def bytes_on_disk(self):
        """The vault closed, so that nothing is left in a journal, and what its tables take."""
        self.stop()
        size = self.vault.stat().st_size
        for table, held in tables(self.vault):
            self.ground.figures.set(f"table/{self.items}/{table}", held / self.items)
        self.unlock()
        return size

    def peak(self):
        return memory(self.agent(), "VmHWM")

    def close(self):
        self.stop()
