# SPDX-License-Identifier: MIT
"""Names in the place of values: how fast a text goes through, beside cat; what the starts of a masked run and of a room cost;
and what a granted value costs beside a standard one."""

import json
import os
import random
import resource
import statistics
import subprocess
import time

from ground import Failed, Timed
from values import Large

VALUES = 100
WORDS = ("the quick brown fox jumps over a lazy dog error warning building module file line install"
         " 0x7ffe12 https://example.org/path").split()


def text(ground, size):
    """A log of words, without any of the values."""
    chance = random.Random(1)
    path = ground.here / "log"
    line = [" ".join(chance.choice(WORDS) for _ in range(12)) + "\n" for _ in range(10_000)]
    block = "".join(line).encode()
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(block[:size - file.tell()])
    return str(path)


def took(command, source=None):
    """The seconds by the clock, and of the processor, all that it starts together."""
    def used():
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return spent.ru_utime + spent.ru_stime
    begin, before = time.monotonic(), used()
    with open(source or os.devnull, "rb") as given:
        done = subprocess.run(command, stdin=given, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(command[:4])}: status {done.returncode}")
    return time.monotonic() - begin, used() - before


def through(ground, commands, log):
    """Medians of what a text takes to go through each, in turn."""
    runs = 3 if ground.quick else 7
    clock, spent = ({name: [] for name in commands} for _ in range(2))
    for _ in range(runs):
        for name, command in commands.items():
            by_clock, of_processor = took(command, log)
            clock[name].append(by_clock)
            spent[name].append(of_processor)
    size = os.path.getsize(log)
    for name in commands:
        ground.figures.set(f"masking/clock/{name}", size / statistics.median(clock[name]) / 1e6, runs)
    # What a masked run's first process leaves behind, nobody tells of.
    for name in ("redact", "cat"):
        ground.figures.set(f"masking/processor/{name}", size / statistics.median(spent[name]) / 1e6, runs)


def starts(ground, vault, given):
    """A command that does nothing, run with a value, and masked."""
    commands = {}
    for much, variables in (("1 value", ["--env", "V=kura://v/0"]), (f"{VALUES} values", given)):
        for verb in (["run"], ["run", "--mask"]):
            commands[f"{' '.join(verb)}, {much}"] = Timed(
                [vault.program, *verb, *variables, "--", "/bin/true"])
    for name, milliseconds in ground.hyperfine(commands, ground.fast_runs).items():
        ground.figures.set(f"start/{name}", milliseconds, ground.fast_runs)


def rooms(ground, vault):
    """A command that does nothing in a room, and in one that bubblewrap alone makes with the same walls."""
    project = ground.here / "project"
    project.mkdir()
    plain = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--new-session",
             "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
             "--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", str(project),
             str(project), "--chdir", str(project), "/bin/true"]
    before = os.getcwd()
    os.chdir(project)
    try:
        times = ground.hyperfine({
            "bwrap": Timed(plain),
            "run --sandbox": Timed([vault.program, "run", "--sandbox", "--", "/bin/true"]),
            "run --sandbox --allow": Timed(
                [vault.program, "run", "--sandbox", "--allow", "v/0", "--", "/bin/true"])}, ground.fast_runs)
    finally:
        os.chdir(before)
    for name, milliseconds in times.items():
        ground.figures.set(f"start/{name}", milliseconds, ground.fast_runs)


def granted(ground, vault):
    """A protected value that is granted, and a standard one, read in turn below the same command."""
    vault.call("put", "--protect", "--file", ground.file("protected", os.urandom(16).hex()), "protected")
    race = [ground.tool("race"), str(ground.fast_runs), "standard", vault.program, "get", "v/0", "--", "granted", vault.program,
            "get", "protected"]
    rows = ground.output(vault.program, "run", "--grant", "protected", "--passcode-file", vault.passcode, "--", *race)
    for name, milliseconds in (row.split("\t")[:2] for row in rows.splitlines()):
        ground.figures.set(f"get/{name}", float(milliseconds), ground.fast_runs)


def measure(ground):
    ground.say(f"masking of {VALUES} values, rooms and grants")
    vault = Large(ground, "masking")
    try:
        lines = "".join(json.dumps({"name": f"v/{number}", "value": os.urandom(16).hex()}) + "\n"
                        for number in range(VALUES))
        vault.call("put", "--batch", "--file", ground.file("values", lines))
        variables = "".join(f"V{number}=kura://v/{number}\n" for number in range(VALUES))
        given = ["--env-file", ground.file("variables", variables)]
        log = text(ground, (64 if ground.quick else 512) << 20)
        through(ground, {
            "redact": [vault.program, "redact"],
            "cat": ["sh", "-c", "cat | cat"],
            "run --mask cat": [vault.program, "run", "--mask", *given, "--", "cat"]}, log)
        starts(ground, vault, given)
        rooms(ground, vault)
        granted(ground, vault)
    except Failed as reason:
        ground.figures.failed.append(f"masking: {reason}")
    finally:
        vault.stop()
