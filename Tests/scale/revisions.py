#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""revisions.py COUNT KEPT: one item that is changed over and over, with a long history."""
import random

from world import World, expect, expect_at_most, run, say, timed

# KiB that the agent may be larger after the last revision than when the history was full.
GROWTH = 2048


def value(number):
    return b"revision %d" % number


def trial(count, kept, planted=False):
    world = World()
    world("config", "history-depth", str(kept))
    paces, start, full = [], 1, 0
    for end in sorted({count // 10, min(kept, count), count}):
        took = timed(lambda: [
            world("put", "item", "--replace", data=value(number)) for number in range(start, end + 1)])
        paces.append(f"{took / max(1, end + 1 - start) * 1000:.1f} ms to {end:,}")
        full, start = full or (world.memory() if end >= kept else 0), end + 1
    say(f"a put, with {kept:,} kept: " + ", ".join(paces) + f"; agent {world.memory():,} KiB")
    expect_at_most(world.memory(), (full or world.memory()) + GROWTH, "KiB of the agent")
    check(world, count, kept, planted)
    deeper(world, count, kept)


def check(world, count, kept, planted):
    lines = []
    took = timed(lambda: lines.extend(world("history", "item").decode().splitlines()))
    first = max(1, count - kept)
    if planted:
        first -= 1
    seen = [int(line.split()[0]) for line in lines]
    expect(seen == list(range(first, count + 1)), True, "history has the newest revisions")
    for number in {first, count - 1, *random.sample(range(first, count), min(100, kept // 2))}:
        expect(world("get", "item", "--revision", str(number)), value(number), f"revision {number}")
    if first > 1:
        world("get", "item", "--revision", str(first - 1), status=3)
    expect(world("get", "item"), value(count), "current value")
    say(f"history in {took * 1000:.0f} ms, verified in {world.verify() * 1000:.0f} ms; "
        f"{world.size() >> 10:,} KiB of file and journal")


def deeper(world, count, kept):
    """A deletion, a way back, a smaller limit, and all but one thrown away."""
    world("rm", "item")
    world("restore", "item")
    expect(world("get", "item"), value(count), "value that was brought back")
    world("config", "history-depth", str(kept // 2), "--passcode-file", "passcode")
    world("put", "item", "--replace", data=value(0))
    expect(len(world("history", "item").splitlines()), kept // 2 + 1, "revisions after a smaller limit")
    world("purge", "--yes", "--history", "item")
    expect(len(world("history", "item").splitlines()), 1, "revisions after a purge")
    world.verify()


run(trial, 30, 10)
