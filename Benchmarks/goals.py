# SPDX-License-Identifier: MIT
"""The goals: each a figure of the run held against a limit. A miss is told, and fails nothing."""

from dataclasses import dataclass
from typing import Callable

CHANGES = 10
FULL = {"most": 1_000_000, "middle": 10_000, "value": "1GiB"}


@dataclass
class Goal:
    what: str
    limit: float
    unit: str
    measure: Callable
    least: bool = False
    """At least the limit, in place of at most."""


@dataclass
class Judged:
    goal: Goal
    measured: float | None
    verdict: str


def ratio(over, under):
    return lambda f: f[over] / f[under]


def race(items, over, under):
    return ratio(f"race/{items}/{over}", f"race/{items}/{under}")


def figure(name, scale=1.0):
    return lambda f: f[name] * scale


def put(items):
    return lambda f: f[f"race/{items}/put"] / (f[f"race/{items}/commit"] + f[f"race/{items}/glibc"])


def peak(value):
    return lambda f: max(f[f"peak/{value}/{who}"]
                         for who in ("kura get", "kura put", "kura-agent")) / 1024


def largest(operation, who):
    """The figure at the one size that there is of it."""
    def measure(f):
        names = [name for name in f if name.startswith(operation + "/") and name.endswith("/" + who)]
        if not names:
            raise KeyError(f"{operation}/*/{who}")
        return f[names[0]]
    return measure


def moved(form):
    theirs, ours = largest("import", "keepassxc-cli"), largest("import", form)
    return lambda f: theirs(f) / ours(f)


def sole(figures, prefix):
    """The one figure whose name begins so."""
    names = [name for name in figures if name.startswith(prefix)]
    if not names:
        raise KeyError(prefix + "*")
    return figures[names[0]]


def joined(figures):
    return largest("several", "join")(figures) / largest("several", "put --batch")(figures)


def unlock_more(items):
    return lambda f: f[f"race/{items}/unlock"] - f[f"race/{items}/argon2id"]


def goals(most, middle, value):
    """The goals at these sizes, which are the smaller ones in a run that leaves the large out."""
    many, some = f"{most:,}", f"{middle:,}"
    return [
        Goal("get, 10 items, to the musl floor", 2.0, "x", race(10, "get", "musl")),
        Goal(f"get, {many} items, to the musl floor", 2.3, "x", race(most, "get", "musl")),
        Goal("--version, to a static musl program", 1.5, "x", race(10, "version", "nop_musl")),
        Goal(f"agent's share of a get, {many}", 60, "us", figure(f"agent/{most}/get-us")),
        Goal(f"gets over 8 connections, {many}", 20_000, "/s",
             figure(f"agent/{most}/gets-per-second"), least=True),
        Goal("put, 10 items, to a commit and the floor", 1.3, "x", put(10)),
        Goal(f"put, {many} items, to the same", 1.3, "x", put(most)),
        Goal(f"put over its commit, 10 to {many}", 1.3, "x", lambda f: put(most)(f) / put(10)(f)),
        Goal("put --batch, to bare SQLite rows", 0.5, "x", ratio("batch/kura", "batch/sqlite"),
             least=True),
        Goal(f"list of {some}, to pass ls", 1, "x",
             ratio(f"list/{middle}/kura", f"list/{middle}/pass")),
        Goal(f"list of {many}, sorted", 2.5, "s", figure(f"list/{most}/kura", 1e-3)),
        Goal(f"list --unsorted, {many}, first line", 10, "ms", figure(f"race/{most}/first-line")),
        Goal(f"find in {some}, to pass find", 1, "x",
             ratio(f"find/{middle}/kura", f"find/{middle}/pass")),
        Goal(f"find in {many}", 2.5, "s", figure(f"find/{most}/kura", 1e-3)),
        Goal("show by kura-pass, 10 items, to pass", 0.1, "x", ratio("show/10/kura", "show/10/pass")),
        Goal("keyring get, 10 items, to Python's", 0.1, "x",
             ratio("keyring/10/kura", "keyring/10/secret-tool")),
        Goal(f"variables by prefix, {some}, to gets", 0.25, "x",
             ratio(f"variables/{middle}/prefix", f"variables/{middle}/gets")),
        Goal(f"unlock, {many}, beyond bare Argon2id", 10, "ms", unlock_more(most)),
        Goal(f"the first get after it, {many}", 2, "ms", figure(f"race/{most}/first-get")),
        Goal(f"get of {value}, to age -d", 1, "x",
             ratio(f"value/{value}/get kura", f"value/{value}/get age -d")),
        Goal(f"put of {value}: speed, to cp + fsync", 0.4, "x",
             ratio(f"value/{value}/put cp+fsync", f"value/{value}/put kura"), least=True),
        Goal(f"backup of {value}: speed, to cp + fsync", 0.8, "x",
             ratio(f"value/{value}/backup cp+fsync", f"value/{value}/backup kura"), least=True),
        Goal("import by CSV: speed, to keepassxc-cli", 3, "x", moved("csv"), least=True),
        Goal("import by lines: speed, to the same", 3, "x", moved("json-lines"), least=True),
        Goal("merge with 10 differences", 100, "ms", largest("merge", "kura")),
        Goal("first join: time, to put --batch", 3, "x", joined),
        Goal(f"{CHANGES} changes: bytes sent", 65_536, "B", lambda f: sole(f, "sent/")),
        Goal(f"{CHANGES} changes: the agent, to send them", 100, "ms", largest("several", "agent push")),
        Goal(f"{CHANGES} changes: the agent, to take them", 100, "ms", largest("several", "agent pull")),
        Goal("a change by LISTEN", 2, "s", figure("listen/kura", 1e-3)),
        Goal(f"push of {value}: speed, to cp + fsync", 0.5, "x",
             ratio(f"long/{value}/cp+fsync", f"long/{value}/push"), least=True),
        Goal(f"pull of {value}: speed, to cp + fsync", 0.5, "x",
             ratio(f"long/{value}/cp+fsync", f"long/{value}/pull"), least=True),
        Goal("masking: a processor, 100 values", 500, "MB/s", figure("masking/processor/redact"), least=True),
        Goal("run --mask with 1 value, to run", 4, "x", ratio("start/run --mask, 1 value", "start/run, 1 value")),
        Goal("run --sandbox, to bubblewrap alone", 4, "x", ratio("start/run --sandbox", "start/bwrap")),
        Goal("get of a granted value, to a standard one", 1.2, "x", ratio("get/granted", "get/standard")),
        Goal(f"{value}: peak of the larger process", 32, "MiB", peak(value)),
        Goal(f"agent at rest, {some}, unlocked", 12, "MiB",
             figure(f"rest/{middle}/unlocked", 1 / 1024)),
        Goal(f"agent at rest, {some}, locked", 8, "MiB",
             figure(f"rest/{middle}/locked", 1 / 1024)),
        Goal(f"disk, an item of 32 bytes, {some}", 1100, "B", figure(f"disk/{middle}/kura")),
        Goal("kura ui, 10 items: first screen", 100, "ms", figure("screen/10/first")),
        Goal(f"kura ui, {some}: first screen", 100, "ms", figure(f"screen/{middle}/first")),
        Goal(f"kura ui, {some}: a key", 30, "ms", figure(f"screen/{middle}/key")),
        Goal(f"kura ui, {some}: a lone Escape", 100, "ms", figure(f"screen/{middle}/escape")),
        Goal(f"kura ui, {some}: covered after a lock", 100, "ms", figure(f"screen/{middle}/cover")),
        Goal(f"verify of {many}", 8, "s", figure(f"verify/{most}/kura", 1e-3)),
    ]


def judge(figures, sizes, value):
    """Every goal with what was measured; a figure that is not there is a failure of the run.

    At smaller sizes than the goals', a limit that holds says little: the verdict says the sizes.
    """
    reached = {"most": max(sizes), "value": value,
               "middle": max([size for size in sizes if size <= 10_000], default=10_000)}
    short = "" if reached == FULL else " here"
    judged = []
    for goal, full in zip(goals(**reached), goals(**FULL), strict=True):
        try:
            measured = goal.measure(figures.values)
        except KeyError as missing:
            if "batch/" in str(missing):
                judged.append(Judged(goal, None, "misses: this kura has none"))
            else:
                judged.append(Judged(goal, None, "DID NOT RUN"))
                figures.failed.append(f"goal '{goal.what}': no figure {missing}")
            continue
        holds = measured >= goal.limit if goal.least else measured <= goal.limit
        verdict = "holds" if holds else "misses"
        judged.append(Judged(goal, measured, verdict + (short if goal.what != full.what else "")))
    return judged
