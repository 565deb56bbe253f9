#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""value.py MIB: one large value in and out, byte for byte, in little memory."""
import os, struct, subprocess, time

from world import World, expect, expect_at_most, expect_objection, memory_of, need, run, say

# KiB that either program may take, the derivation of the key included.
MEMORY = 32 * 1024
PIECE = 1 << 20


class Pieces:
    """The pieces of a value: no two alike, and none kept."""

    def __init__(self, count):
        self.count, self.noise = count, os.urandom(PIECE)

    def __iter__(self):
        for number in range(self.count):
            yield struct.pack("<Q", number) + self.noise[8:]


def put(pieces):
    kura = subprocess.Popen(["kura", "-q", "put", "large"], stdin=subprocess.PIPE, bufsize=0)
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            rest = rest[kura.stdin.write(rest):]
    most = memory_of(kura.pid, "VmHWM")
    kura.stdin.close()
    expect(kura.wait(), 0, "status of kura put")
    return most


def get(pieces):
    kura = subprocess.Popen(["kura", "get", "large"], stdout=subprocess.PIPE)
    for number, piece in enumerate(pieces):
        # Of a process that waits for a reader, not of one that is gone.
        most = memory_of(kura.pid, "VmHWM") if number < pieces.count - 1 else most
        expect(kura.stdout.read(PIECE) == piece, True, f"MiB {number} is what was put")
    expect(kura.stdout.read(1), b"", "bytes behind the value's end")
    expect(kura.wait(), 0, "status of kura get")
    return most


def trial(size, planted=False):
    need(2 * size * PIECE + (256 << 20))
    world, pieces = World(), Pieces(size)
    for verb, work in (("put", put), ("get", get)):
        start = time.monotonic()
        client = work(pieces)
        took, agent = time.monotonic() - start, world.memory("VmHWM")
        say(f"{verb} of {size:,} MiB in {took:.1f} s: client {client:,} KiB, agent {agent:,} KiB")
        expect_at_most(client, MEMORY, f"KiB of kura {verb}")
        expect_at_most(agent, MEMORY, "KiB of the agent")
        if planted:
            expect_objection(lambda: expect_at_most(client, 1024, "KiB"), "a client that is too large")
            pieces.noise = pieces.noise[:-1] + bytes([pieces.noise[-1] ^ 1])
    say(f"verify in {world.verify():.1f} s; {world.size() >> 20:,} MiB of file and journal")


run(trial, 3)
