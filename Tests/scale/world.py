# SPDX-License-Identifier: MIT
"""A throw-away vault, driven from outside by the built programs; a trial ends at the first thing wrong.

A trial is a program of its own, in the directory and with the environment that `ScaleTests` gives it:
`NAME.py SIZE...` is the trial; `NAME.py --planted` a small one that is told something untrue, and has to
find that.
"""
import json, os, shutil, subprocess, sys, time


class Wrong(Exception):
    """What was seen is not what has to be."""


def expect(seen, wanted, what):
    if seen != wanted:
        raise Wrong(f"{what}: {seen!r:.200}, not {wanted!r:.200}")


def expect_at_most(seen, most, what):
    if seen > most:
        raise Wrong(f"{what}: {seen:,}, more than {most:,}")


def expect_objection(check, what):
    """A check that cannot fail is none."""
    try:
        check()
    except Wrong:
        return
    say(f"{what} was not found")
    sys.exit(2)


def say(text):
    print(text, flush=True)


class World:
    """The vault, unlocked."""

    def __init__(self):
        with open("passcode", "w") as file:
            file.write("correct horse battery staple")
        cost = os.environ["CHEAP"].split()
        self("init", *cost, "--no-recovery-key", "--passcode-file", "passcode")
        self.unlock()
        self.vault = os.environ["XDG_DATA_HOME"] + "/kura/default.kura"

    def __call__(self, *arguments, data=b"", status=0):
        """Runs kura, and gives what it prints."""
        done = subprocess.run(["kura", "-q", *arguments], input=data, capture_output=True)
        if done.returncode != status:
            said = done.stderr.decode("utf-8", "replace").strip()
            what = f"kura {b' '.join(map(os.fsencode, arguments))!r:.200}"
            raise Wrong(f"{what}: status {done.returncode}, not {status}: {said:.300}")
        return done.stdout

    def unlock(self):
        self("unlock", "--passcode-file", "passcode")
        self.agent = json.loads(self("agent", "status", "--json"))["pid"]

    def memory(self, field="VmRSS"):
        """KiB of the agent."""
        return memory_of(self.agent, field)

    def fill(self, items):
        """Stores names with values, many a transaction."""
        feed = subprocess.Popen(["kura", "-q", "put", "--batch"], stdin=subprocess.PIPE)
        for name, value in items:
            feed.stdin.write(json.dumps({"name": name, "value": value}).encode() + b"\n")
        feed.stdin.close()
        expect(feed.wait(), 0, "status of put --batch")

    def names(self, *arguments):
        return self("list", "-0", *arguments).split(b"\0")[:-1]

    def verify(self):
        return timed(lambda: self("verify"))

    def size(self):
        """Bytes of the vault's file and its journal."""
        there = [path for path in (self.vault, self.vault + "-wal") if os.path.exists(path)]
        return sum(os.path.getsize(path) for path in there)


def memory_of(process, field):
    """KiB of a process."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":"))


def timed(work):
    """Seconds that something took."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


def need(space):
    """Leaves the trial out, and says so, where the disk has no room for it."""
    free = shutil.disk_usage(".").free
    if free < space:
        say(f"skipped: {space >> 20:,} MiB of disk are needed here, {free >> 20:,} MiB are free")
        sys.exit(0)


def run(trial, *planted):
    """Runs a trial with the sizes given, or what is planted; ends with 1 when something is wrong."""
    try:
        if sys.argv[1:] == ["--planted"]:
            trial(*planted, planted=True)
            say("what was planted was not found")
            return
        trial(*map(int, sys.argv[1:]))
    except Wrong as wrong:
        say(f"wrong: {wrong}")
        sys.exit(1)
