# SPDX-License-Identifier: MIT
"""run.py PROGRAMS [database|devices]...   one database for many vaults, and many machines of one vault: see ../README.md.

QUICK=1: 1,000 vaults, 30 machines, a month for the year. It takes a quarter of an hour without.
"""

import os
import pwd
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

from ground import Failed, Ground  # noqa: E402
from syncing import Machine, item, processor_time  # noqa: E402

QUICK = bool(os.environ.get("QUICK"))
VAULTS = (100, 1_000) if QUICK else (100, 1_000, 10_000)
OBJECTS, DEVICES, CLIENTS, SECONDS = 20, 3, 8, 5 if QUICK else 15
DAYS, CHANGES, YEAR_VAULTS = 30 if QUICK else 365, 50, 10
MACHINES = (3, 10, 30) if QUICK else (3, 10, 30, 100)


class Database:
    """A PostgreSQL as it is installed: nothing is set but where it stands."""

    def __init__(self, ground):
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.ground, self.place = ground, Path(tempfile.mkdtemp(prefix="kura-bench-database.", dir="/var/tmp"))
        # initdb refuses root.
        self.user = {"user": "nobody"} if os.geteuid() == 0 else {}
        if self.user:
            os.chown(self.place, pwd.getpwnam("nobody").pw_uid, -1)
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        ground.output(programs / "initdb", "-D", self.place / "data", "-U", "owner", "-A", "trust", "-E", "UTF8",
                      "--locale=C", env=env, cwd=self.place, **self.user)
        self.server = ground.start(programs / "postgres", "-D", self.place / "data", "-k", self.place, "-h", "",
                                   env=env, cwd=self.place, **self.user)
        ground.await_("the database", lambda: self.ask("SELECT 1") == "1")
        kura = ground.programs / "kura"
        self.ask(ground.output(kura, "sync", "sql"))
        self.ask(ground.output(kura, "sync", "sql", "--role", "machine"))

    def ask(self, sql):
        done = subprocess.run(["psql", "-qAtX", "-h", self.place, "-U", "owner", "postgres"], input=sql, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return done.stdout.strip()

    def clients(self, *words):
        return self.ground.output(self.ground.tool("clients"), f"host={self.place} user=machine dbname=postgres", *words)

    def size(self, table):
        return int(self.ask(f"SELECT pg_total_relation_size('{table}')"))

    def sizes(self):
        return ", ".join(f"{table} {self.size(table) / 2**20:,.1f} MiB" for table in ("kura_object", "kura_head"))

    def end(self):
        self.ground.end(self.server)
        shutil.rmtree(self.place, ignore_errors=True)


def database(ground):
    ground.output("cc", "-O2", "-o", ground.tool("clients"), HERE / "clients.c", "-I/usr/include/postgresql", "-lpq",
                  "-lpthread")
    for vaults in VAULTS:
        base = Database(ground)
        try:
            base.clients("fill", vaults, DEVICES, OBJECTS)
            base.ask("VACUUM ANALYZE")
            print(f"{vaults:,} vaults of {DEVICES} machines with {OBJECTS} objects each: {base.sizes()}", flush=True)
            for way in ("pull", "push"):
                rate, middle, late = base.clients(way, vaults, DEVICES, CLIENTS, SECONDS).split()
                print(f"  {way}: {float(rate):,.0f}/s over {CLIENTS} connections; {middle} ms, 1 of 100 above {late} ms",
                      flush=True)
            print("  read by index alone: " + base.ask(
                "SELECT bool_and(seq_tup_read <= n_live_tup) FROM pg_stat_user_tables"), flush=True)
        finally:
            base.end()
    base = Database(ground)
    try:
        base.ask("ALTER ROLE machine SET synchronous_commit = off")     # of the sizes alone
        for day in range(DAYS):
            base.clients("year", YEAR_VAULTS, day * CHANGES, (day + 1) * CHANGES)
            # In a real day autovacuum, which looks each minute, does so several times.
            base.ask("VACUUM kura_object")
            base.ask("VACUUM kura_head")
        whole = base.size("kura_object") + base.size("kura_head")
        live = int(base.ask("SELECT (SELECT sum(length(bytes)) FROM kura_object) + (SELECT sum(length(bytes)) FROM kura_head)"))
        print(f"{YEAR_VAULTS} vaults, {DAYS} days of {CHANGES} pushes: {base.sizes()}; "
              f"a vault {whole / YEAR_VAULTS / 2**20:.2f} MiB, of which {live / YEAR_VAULTS / 2**20:.2f} are its files", flush=True)
    finally:
        base.end()


def devices(ground):
    """Machines that join one after another; what a head of the first weighs then, and what it costs to take all others."""
    store = ground.here / "several" / "store"
    store.mkdir(mode=0o700, parents=True)
    machines = [Machine(ground, "0")]
    first = machines[0]
    first.begin(100)
    first.call("sync", "init", "--weak", "--label", "machine 0", f"dir:{store}")
    for count in MACHINES:
        while len(machines) < count:
            machine = Machine(ground, str(len(machines)))
            machine.call("sync", "join", "--label", f"machine {len(machines)}", "--passcode-file", machine.passcode,
                         f"dir:{store}")
            machine.call("agent", "stop")
            machines.append(machine)
        first.call("sync")
        heads = sorted(path.stat().st_size for path in store.glob("kura-*/heads/*"))
        apart = took_in(first, machines[1:], lambda number: number % 100)
        same = took_in(first, machines[1:], lambda _: 0)
        quiet = [first.spent("sync") for _ in range(6)][1:]
        print(f"{count} machines: heads of {heads[len(heads) // 2]:,} to {heads[-1]:,} bytes; {count - 1} heads taken in {spoken(apart)}, "
              f"where all changed the same item in {spoken(same)}; a meeting without news "
              f"{spoken([statistics.median(one) for one in zip(*quiet)])}", flush=True)
        first.fill([0], lambda _: "settled")
        first.call("sync")
    first.stop()


def took_in(first, others, which):
    """What it costs one machine to take what each of the others changed, an item each."""
    for number, other in enumerate(others, 1):
        other.call("unlock", "--passcode-file", other.passcode)
        other.fill([which(number)], lambda one: f"{one} of {other.place.name}")
        other.call("sync")
        other.call("agent", "stop")
    return first.spent("sync")


def spoken(times):
    """Milliseconds by the clock, and of a processor in the agent."""
    return "{:,.0f} ms ({:,.0f} of the agent)".format(*times)


def main():
    programs, *parts = sys.argv[1:]
    here = Path(tempfile.mkdtemp(prefix="kura-bench-sync.", dir=os.environ.get("TMPDIR", "/var/tmp")))
    (here / "tools").mkdir()
    os.environ["HOME"] = str(here)
    ground = Ground(programs, here, QUICK)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    try:
        for part in (database, devices):
            if not parts or part.__name__ in parts:
                part(ground)
    except Failed as reason:
        sys.exit(f"DID NOT RUN: {reason}")
    finally:
        ground.clean()
        shutil.rmtree(here, ignore_errors=True)


if __name__ == "__main__":
    main()
