# SPDX-License-Identifier: MIT
"""What is measured of Kura alone: against floors, in instructions, and inside its agent."""

import os
import time

import screen
from ground import Failed, Timed, item, memory, processor_time
from stores.kura import MEMORY, PASSES

ALTERNATIONS = 10
LINES = 8


def floors(ground, kura):
    """`get`, the bare round trips and processes that do nothing, in turn, run by run."""
    figures, items = ground.figures, kura.items
    socket = str(ground.here / "floor.sock")
    server = ground.start(ground.tool("floor"), "serve", socket)
    ground.await_("floor serve", lambda: os.path.exists(socket))
    took = ground.race(
        100 if ground.quick else 400,
        glibc=[ground.tool("floor"), "get", socket],
        musl=[ground.tool("floor-musl"), "get", socket],
        get=kura.get().command,
        nop_glibc=[ground.tool("floor"), "nop"],
        nop_musl=[ground.tool("floor-musl"), "nop"],
        version=[kura.program, "--version"])
    ground.end(server)
    os.unlink(socket)
    for name, median in took.items():
        figures.set(f"race/{items}/{name}", median)


def puts(ground, kura):
    """`put` and a bare commit in turns: both wait for the disk, which has its moods."""
    rounds = 6 if ground.quick else 20
    bare, whole = [], []
    for _ in range(ALTERNATIONS):
        bare += ground.numbers(ground.tool("commit"), ground.here / "plain.db", rounds)
        whole.append(ground.race(rounds, put=kura.put_file())["put"])
    ground.figures.set(f"race/{kura.items}/commit", median(bare))
    ground.figures.set(f"race/{kura.items}/put", median(whole))


def median(numbers):
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[-middle - 1]) / 2


def unlocks(ground, kura):
    """`unlock` of a locked vault against the bare hash, one after the other in each round."""
    bare, whole = [], []
    for _ in range(ground.runs):
        start = time.monotonic()
        ground.output(ground.tool("argon2id"), MEMORY, PASSES)
        bare.append((time.monotonic() - start) * 1e3)
        ground.output(kura.relock)
        start = time.monotonic()
        kura.unlock()
        whole.append((time.monotonic() - start) * 1e3)
    ground.figures.set(f"race/{kura.items}/argon2id", median(bare))
    ground.figures.set(f"race/{kura.items}/unlock", median(whole))
    first = ground.hyperfine({"first": kura.first_get()}, ground.runs)["first"]
    ground.figures.set(f"race/{kura.items}/first-get", first)


def listing(ground, kura):
    """The first line of a list that nobody sorts, and the memory of both sides."""
    figures, items = ground.figures, kura.items
    looks = [ground.watch(kura.program, "list", "--unsorted") for _ in range(ground.slow_runs)]
    figures.set(f"race/{items}/first-line", median([look[0] for look in looks]))
    figures.set(f"race/{items}/unsorted", median([look[1] for look in looks]))
    figures.set(f"peak/{items}/kura list", ground.watch(*kura.list().command)[3])
    figures.set(f"peak/{items}/kura-agent", kura.peak())


def agent(ground, kura):
    """Many gets over connections that stay: the agent without the start of processes."""
    count = 10_000 if ground.quick else 60_000
    process = kura.agent()
    before = processor_time(process)
    asked = [ground.tool("ask"), "get", kura.socket, kura.vault, kura.items, count]
    single = ground.numbers(*asked, 1)
    spent = processor_time(process) - before
    several = ground.numbers(*asked, LINES)
    ground.figures.set(f"agent/{kura.items}/get-us", single[0])
    ground.figures.set(f"agent/{kura.items}/get-cpu-us", spent / count * 1e6)
    ground.figures.set(f"agent/{kura.items}/gets-per-second", 1e6 / several[0])


def variables(ground, kura):
    """A folder's values as variables of one command, and as many gets."""
    names = [item(number) for number in range(min(100, kura.items))]
    folder = names[0].partition("/")[0]
    gets = ground.script("gets", *[f"{kura.program} get {name} >/dev/null" for name in names])
    took = ground.hyperfine(
        {"prefix": Timed([kura.program, "run", "--env-from", f"kura://{folder}/", "--",
                          ground.tool("floor-musl"), "nop"]),
         "gets": Timed([gets])}, ground.runs)
    for name, middle in took.items():
        ground.figures.set(f"variables/{kura.items}/{name}", middle)
    ground.figures.set(f"variables/{kura.items}/count", len(names))


def instructions(ground, kura):
    commands = {"--version": [kura.program, "--version"], "get": kura.get().command,
                "put": kura.put_file(),
                "list": kura.list().command}
    if kura.items > 10_000:
        del commands["list"]
    for name, command in commands.items():
        figure = f"instructions/{kura.items}/{name}"
        ground.figures.set(figure, ground.instructions(*command))


def rest(ground, kura):
    """An agent that has served what came before, without work: unlocked, then locked."""
    process = kura.agent()
    ground.figures.set(f"rest/{kura.items}/unlocked", memory(process, "VmRSS"))
    ground.output(kura.relock)
    time.sleep(1)
    ground.figures.set(f"rest/{kura.items}/locked", memory(process, "VmRSS"))
    kura.unlock()


def at_size(ground, kura):
    ground.say(f"close-up of kura at {kura.items:,}")
    attempt(ground, kura, (floors, puts, unlocks, listing, agent, variables, instructions,
                           rest, screen.measure))


def once(ground, kura):
    """At the end, with the store as large as it gets."""
    attempt(ground, kura, (verify, batch))


def attempt(ground, kura, parts):
    """Each part, whatever became of the one before."""
    for part in parts:
        try:
            part(ground, kura)
        except Failed as reason:
            ground.figures.failed.append(f"{part.__name__} at {kura.items:,}: {reason}")


def verify(ground, kura):
    runs = 3
    took = []
    for _ in range(runs):
        start = time.monotonic()
        kura.call("verify")
        took.append(time.monotonic() - start)
    ground.figures.set(f"verify/{kura.items}/kura", median(took) * 1e3, runs)


def batch(ground, kura):
    """How fast a store was filled, at the largest size that bare SQLite takes in a few seconds."""
    items = max((size for size in kura.filled if size <= 100_000), default=None)
    if not items or not kura.batch:
        return
    added, seconds = kura.filled[items]
    size = round(ground.figures.values[f"disk/{items}/kura"])
    bare = ground.numbers(ground.tool("rows"), ground.here / "rows.db", added, size)[0]
    ground.figures.set("batch/sqlite", bare)
    ground.figures.set("batch/kura", added / seconds)
