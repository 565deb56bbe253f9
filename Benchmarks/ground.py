# SPDX-License-Identifier: MIT
"""Where a run happens: its throw-away directory, tools and figures, and how a thing is timed."""

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_TRIAL = 60


class Skipped(Exception):
    """A store cannot do this, or not at this size; the text says why."""


class Failed(Exception):
    """Something that should have run did not."""


@dataclass
class Timed:
    """A command to time, and what puts things back before each run of it."""

    command: list
    prepare: str = "/bin/true"
    shows: bytes = b""


@dataclass
class Figures:
    """What was measured, by name, and what was not, with the reason."""

    values: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)
    skipped: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    remarks: list = field(default_factory=list)

    def set(self, name, value, runs=None):
        self.values[name] = value
        if runs:
            self.runs[name] = runs


class Ground:
    def __init__(self, programs, here, quick):
        self.programs, self.here, self.quick = Path(programs), Path(here), quick
        self.tools = self.here / "tools"
        self.fast_runs = 30 if quick else 100
        self.runs = 10 if quick else 30
        self.slow_runs = 3 if quick else 5
        self.figures = Figures()
        self.children = []
        self.begun = time.monotonic()

    def say(self, text):
        print(f"[{time.monotonic() - self.begun:5.0f} s] {text}", file=sys.stderr, flush=True)

    def tool(self, name):
        return str(self.tools / name)

    def file(self, name, content):
        path = self.here / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def script(self, name, *lines):
        path = self.here / name
        path.write_text("#!/bin/sh\nset -e\n" + "\n".join(lines) + "\n")
        path.chmod(0o700)
        return str(path)

    def output(self, *command, **more):
        """What a command prints; it must succeed."""
        more.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, **more)
        if done.returncode:
            error = done.stderr.decode(errors="replace").strip()
            raise Failed(f"{' '.join(map(str, command[:4]))}: status {done.returncode}: {error}")
        return done.stdout.decode(errors="replace")

    def numbers(self, *command):
        return [float(word) for word in self.output(*command).split()]

    def start(self, *command, **more):
        """A process that is ended, by its id, when the run ends."""
        child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, **more)
        self.children.append(child)
        return child

    def end(self, child):
        child.terminate()
        child.wait()
        self.children.remove(child)

    def clean(self):
        for child in list(self.children):
            self.end(child)

    def await_(self, what, condition, limit=60):
        deadline = time.monotonic() + limit
        while not condition():
            if time.monotonic() > deadline:
                raise Failed(f"{what}: not within {limit} s")
            time.sleep(0.02)

    # Timing

    def trial(self, timed):
        """Runs a command once, looks at what it prints, and says how long it took."""
        start = time.monotonic()
        try:
            self.output(timed.prepare)
            start = time.monotonic()
            done = subprocess.run(timed.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=LONGEST_TRIAL, check=False)
        except subprocess.TimeoutExpired:
            raise Skipped(f"one run takes more than {LONGEST_TRIAL} s") from None
        if done.returncode or timed.shows not in done.stdout:
            error = done.stderr.decode(errors="replace").strip()[-200:]
            raise Failed(f"{' '.join(timed.command[:5])}: status {done.returncode}: {error}")
        return time.monotonic() - start

    def runs_for(self, took):
        """More runs of what is over at once, few of what takes seconds."""
        return self.fast_runs if took < 0.05 else self.runs if took < 1 else self.slow_runs

    def hyperfine(self, timed, runs):
        """Medians in milliseconds of some commands, by name, one after another in one call."""
        report = self.here / "hyperfine.json"
        command = ["hyperfine", "-N", "--style", "none", "--runs", str(runs), "--warmup",
                   "1" if runs < 10 else "3", "--export-json", str(report)]
        if any(one.prepare != "/bin/true" for one in timed.values()):
            for one in timed.values():
                command += ["--prepare", one.prepare]
        for name, one in timed.items():
            command += ["--command-name", name, shlex.join(one.command)]
        self.output(*command)
        results = json.loads(report.read_text())["results"]
        return {result["command"]: result["median"] * 1e3 for result in results}

    def race(self, rounds, **commands):
        """Medians in milliseconds of short commands, taken in turn, run by run."""
        words = []
        for name, command in commands.items():
            words += ["--", name, *command]
        rows = self.output(self.tool("race"), rounds, *words[1:]).splitlines()
        return {row.split("\t")[0]: float(row.split("\t")[1]) for row in rows}

    def watch(self, *command):
        """Milliseconds to the first byte and to the end, bytes, and the peak of memory in KiB."""
        return self.numbers(self.tool("watch"), *command)

    def instructions(self, *command):
        """How many instructions a command is, all libraries included."""
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        for line in done.stderr.decode(errors="replace").splitlines():
            if "Collected" in line:
                return int(line.split()[-1])
        raise Failed(f"valgrind {' '.join(command[1:3])}: no count")


def memory(process, field_name):
    """VmRSS or VmHWM of a process, in KiB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field_name + ":"):
            return int(line.split()[1])
    raise Failed(f"/proc/{process}/status has no {field_name}")


def processor_time(process):
    """Seconds of processor that a process has had, all its threads together."""
    total = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def item(number):
    return f"g{number // 100:04d}/item-{number:07d}"


def secret(number):
    return f"S{number:07d}-0123456789abcdefghijklmnop"[:32]


def free_bytes(path):
    space = os.statvfs(path)
    return space.f_bavail * space.f_frsize
