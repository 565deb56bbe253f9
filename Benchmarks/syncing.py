# SPDX-License-Identifier: MIT
"""Two machines that share a vault by a folder, and by a database; beside git under pass, and keepassxc-cli's merge."""

import json
import os
import shutil
import socket
import statistics
import subprocess
import time
from pathlib import Path

from ground import Failed, free_bytes, item, processor_time, secret
from stores.keepassxc import KeePassXC
from stores.password_store import Pass
from values import plain

COUNT = 100_000
CHANGES = 10
BESIDE = (100, 10_000)
SERVER = Path(__file__).resolve().parent.parent / "Fixtures/scripts/tools/postgres-server"


class Machine:
    """One with a home, a vault and an agent of its own."""

    def __init__(self, ground, name, **more):
        self.ground, self.place = ground, ground.here / "several" / name
        self.program = str(ground.programs / "kura")
        self.passcode = ground.file("several-passcode", "eleven quiet storehouses")
        self.env = {**os.environ, **more, "HOME": str(self.place)}
        for variable in ("DATA_HOME", "STATE_HOME", "CONFIG_HOME", "RUNTIME_DIR"):
            folder = self.place / variable.lower()
            folder.mkdir(mode=0o700, parents=True)
            self.env["XDG_" + variable] = str(folder)

    def call(self, *words):
        return self.ground.output(self.program, "-q", *words, env=self.env)

    def took(self, *words):
        begin = time.monotonic()
        self.call(*words)
        return (time.monotonic() - begin) * 1e3

    def spent(self, *words):
        """Milliseconds by the clock, and of a processor in the agent."""
        agent = json.loads(self.call("agent", "status", "--json"))["pid"]
        before = processor_time(agent)
        took = self.took(*words)
        return took, (processor_time(agent) - before) * 1e3

    def begin(self, items=0):
        """A vault with so many items, whose passcode costs nothing; how long they took."""
        self.call("init", "--no-recovery-key", "--weak-kdf", "--kdf-memory", "64KiB", "--kdf-passes", "1",
                  "--passcode-file", self.passcode)
        self.call("unlock", "--passcode-file", self.passcode, "--idle-timeout", "7d", "--max-session", "30d")
        self.call("config", "lock-on-sleep", "off", "--passcode-file", self.passcode)
        return self.fill(range(items), secret) if items else 0

    def fill(self, numbers, value):
        lines = self.ground.file("several.lines", "".join(
            json.dumps({"name": item(number), "value": value(number)}) + "\n" for number in numbers))
        return self.took("put", "--batch", "--replace", "--file", lines)

    def stop(self):
        try:
            self.call("agent", "stop")
        except Failed:
            return


class Pair:
    """Two machines and what they share by."""

    def __init__(self, ground, name, items):
        self.store = ground.here / "several" / f"{name}-store"
        self.first, self.second = (Machine(ground, f"{name}-{side}") for side in ("first", "second"))
        self.store.mkdir(mode=0o700, parents=True)
        self.filled = self.first.begin(items)
        self.pushed = self.first.took("sync", "init", "--weak", "--label", "first", f"dir:{self.store}")
        self.joined = self.second.took("sync", "join", "--label", "second", "--passcode-file",
                                       self.second.passcode, f"dir:{self.store}")
        self.settle()

    def settle(self):
        for machine in (self.first, self.second) * 2:
            machine.call("sync")

    def files(self):
        return {path: path.stat() for path in self.store.rglob("*") if path.is_file()}

    def written_since(self, before):
        """The bytes of the files that are new or another one."""
        return sum(stat.st_size for path, stat in self.files().items()
                   if path not in before or before[path].st_ino != stat.st_ino)

    def stop(self):
        self.first.stop()
        self.second.stop()


def at_size(ground, pair, count, runs):
    """What is changed on one of them, and goes to the other."""
    figures, pushes, pulls, sent = ground.figures, [], [], []
    figures.set(f"several/{count}/put --batch", pair.filled, 1)
    figures.set(f"several/{count}/first push", pair.pushed, 1)
    figures.set(f"several/{count}/join", pair.joined, 1)
    for number in range(runs):
        first = number * CHANGES
        pair.first.fill(range(first, first + CHANGES), lambda one: f"changed {number} {one}")
        before = pair.files()
        pushes.append(pair.first.spent("sync"))
        sent.append(pair.written_since(before))
        pulls.append(pair.second.spent("sync"))
    for way, times in (("push", pushes), ("pull", pulls)):
        figures.set(f"several/{count}/{way}", statistics.median(clock for clock, _ in times), runs)
        figures.set(f"several/{count}/agent {way}", statistics.median(agent for _, agent in times), runs)
    figures.set(f"sent/{count}", statistics.median(sent), runs)


def long_values(ground, pair, name, size):
    """A long one there and back again, beside a copy of it into the same folder."""
    if free_bytes(ground.here) < 8 * size:
        ground.figures.skipped.append(f"a value of {name} by a folder: fewer than 8 x that free")
        return
    path = plain(ground, size)
    pair.first.call("put", "--file", path, "long")
    copy = ground.script("copy-into", f"cp --reflink=never {path} {pair.store}/copy", f"sync {pair.store}/copy",
                         f"rm {pair.store}/copy")
    times = {"cp+fsync": [], "push": [], "pull": []}
    for side, way in ((pair.first, "push"), (pair.second, "pull")):
        begin = time.monotonic()
        ground.output(copy)
        times["cp+fsync"].append((time.monotonic() - begin) * 1e3)
        times[way].append(side.took("sync"))
    pair.second.call("get", "--output", ground.here / "again", "long")
    if not same(path, ground.here / "again"):
        raise Failed("a long value came as another one")
    for way, all_of in times.items():
        ground.figures.set(f"long/{name}/{way}", statistics.median(all_of), len(all_of))


def same(one, other):
    return subprocess.run(["cmp", "-s", one, other], check=False).returncode == 0


# --- By a database, with both of them watching ---------------------------------------------------------------------

def by_listen(ground):
    """From the end of a put on one to the value on the other."""
    place = ground.here / "several" / "database"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ground.start("bash", SERVER, place, port)
    owner = {**os.environ, "PGHOST": str(place), "PGPORT": str(port), "PGUSER": "owner", "PGDATABASE": "postgres"}

    def ask(sql):
        return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1"], input=sql, text=True, env=owner,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).returncode == 0
    ground.await_("the database", lambda: ask("SELECT 1"))
    kura = str(ground.programs / "kura")
    ask(ground.output(kura, "sync", "sql"))
    machines = []
    try:
        for role in ("first", "second"):
            ask(f"CREATE ROLE {role} LOGIN PASSWORD 'herons';" + ground.output(kura, "sync", "sql", "--role", role))
            machines.append(Machine(ground, f"listen-{role}", PGPASSWORD="herons",
                                    PGSSLROOTCERT=str(place / "server.crt")))
            remote = f"postgres://{role}@localhost:{port}/postgres?sslmode=verify-full"
            if role == "first":
                machines[0].begin(100)
                machines[0].call("sync", "init", "--weak", "--label", role, remote)
            else:
                machines[1].call("sync", "join", "--label", role, "--passcode-file", machines[1].passcode, remote)
        watch(ground, *machines)
    finally:
        for machine in machines:
            machine.stop()
        ground.end(server)


def watch(ground, first, second):
    watchers = [ground.start(machine.program, "-q", "sync", "--watch", env=machine.env) for machine in (first, second)]
    times, runs = [], 5 if ground.quick else 20
    for number in range(runs + 1):
        first.fill([1], lambda one: f"news {number}")
        begin = time.monotonic()
        ground.await_("a change by LISTEN", lambda: second.call("get", item(1)) == f"news {number}")
        times.append((time.monotonic() - begin) * 1e3)
        time.sleep(2)       # that what follows is no part of it
    # The first comes when both have met the store.
    ground.figures.set("listen/kura", statistics.median(times[1:]), runs)
    ground.figures.set("listen/longest", max(times[1:]), runs)
    for child in watchers:
        ground.end(child)


# --- Beside others: one item was changed -----------------------------------------------------------------------------

def beside_kura(ground, items, runs):
    pair = Pair(ground, f"beside-{items}", items)
    try:
        out, back = [], []
        for number in range(runs):
            pair.first.fill([5], lambda one: f"changed {number}")
            out.append(pair.first.took("sync"))
            back.append(pair.second.took("sync"))
    finally:
        pair.stop()
    return {"kura sync, out": out, "kura sync, in": back}


def beside_git(ground, store, items, runs):
    """The same through a bare repository, which pass and gopass keep their stores in."""
    store.grow(items)
    place = ground.here / "several" / f"git-{items}"
    place.mkdir(parents=True)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": ground.file("gitconfig", "[user]\nname=b\nemail=b@example.invalid\n"
                                                          "[pull]\nrebase=false\n")}
    bare, clone = place / "bare.git", place / "clone"

    def call(*words, **more):
        return ground.output(*words, env={**env, **more})
    shutil.rmtree(store.store / ".git", ignore_errors=True)
    call("pass", "git", "init", "-q", "-b", "main")
    call("git", "init", "-q", "--bare", "-b", "main", bare)
    call("pass", "git", "remote", "add", "origin", bare)
    call("pass", "git", "push", "-q", "-u", "origin", "main")
    call("git", "clone", "-q", bare, clone)
    out, back = [], []
    for number in range(runs):
        line = ground.file("line", f"changed {number}\n")
        call(ground.tool("feed"), line, "pass", "insert", "-m", "-f", item(5))
        begin = time.monotonic()
        call("pass", "git", "push", "-q")
        out.append((time.monotonic() - begin) * 1e3)
        begin = time.monotonic()
        call("pass", "git", "pull", "-q", PASSWORD_STORE_DIR=str(clone))
        back.append((time.monotonic() - begin) * 1e3)
    shutil.rmtree(place)
    shutil.rmtree(store.store / ".git")
    return {"pass git push": out, "pass git pull": back}


def beside_merge(ground, store, items, runs):
    """Of a copy in which another entry was changed since; the key is derived in each."""
    store.grow(items)
    copy = ground.here / "several" / "copy.kdbx"
    shutil.copy(store.database, copy)
    times = []
    for number in range(runs):
        change = ground.file("kdbx-other", Path(store.passcode).read_text() + f"changed {number}\n")
        ground.output(ground.tool("feed"), change, "keepassxc-cli", "edit", "-q", "-p", copy, item(5))
        begin = time.monotonic()
        ground.output(ground.tool("feed"), store.passcode, "keepassxc-cli", "merge", "-q", "-s", store.database, copy)
        times.append((time.monotonic() - begin) * 1e3)
    copy.unlink()
    return {"keepassxc-cli merge": times}


def git_store(ground):
    """The one of this run, if there is one; to seal for it takes no passphrase."""
    if (ground.here / "gnupg").exists():
        store = Pass.__new__(Pass)
        store.ground, store.store = ground, ground.here / ".password-store"
        store.sealed, store.items = store.path(5).read_bytes(), 0
        return store
    return Pass(ground)


def beside(ground):
    runs = 5 if ground.quick else 10
    pass_store, database = git_store(ground), KeePassXC(ground)
    for items in BESIDE:
        ground.say(f"one change of {items:,} items, to another machine")
        for measure_one in (lambda: beside_kura(ground, items, runs),
                            lambda: beside_git(ground, pass_store, items, runs),
                            lambda: beside_merge(ground, database, items, runs)):
            try:
                for who, times in measure_one().items():
                    ground.figures.set(f"beside/{items}/{who}", statistics.median(times), runs)
            except Failed as reason:
                ground.figures.failed.append(f"one change of {items:,} items: {reason}")


def measure(ground):
    count = COUNT // 10 if ground.quick else COUNT
    name, size = ("256MiB", 256 << 20) if ground.quick else ("1GiB", 1 << 30)
    ground.say(f"two machines with {count:,} items")
    pair = Pair(ground, "many", count)
    try:
        at_size(ground, pair, count, 5 if ground.quick else 10)
        long_values(ground, pair, name, size)
    except Failed as reason:
        ground.figures.failed.append(f"several machines: {reason}")
    finally:
        pair.stop()
    for part in (by_listen, beside):
        try:
            part(ground)
        except Failed as reason:
            ground.figures.failed.append(f"several machines, {part.__name__}: {reason}")
    shutil.rmtree(ground.here / "several", ignore_errors=True)
