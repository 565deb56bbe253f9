#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py COUNT: names as long as they may be, in most of what takes a name."""
from world import World, expect, run, say, timed

LONGEST = 1024


def name(number, kind="n"):
    """A name that differs from others at its end only, some of it of several bytes a character."""
    head, tail = f"{kind}/" + "ö" * (number % 300), f"/{number:08}"
    return head + "x" * (LONGEST - len((head + tail).encode())) + tail


def trial(count, planted=False):
    world = World()
    wanted = {name(number).encode(): f"value {number}".encode() for number in range(count)}
    filling = timed(
        lambda: world.fill((key.decode(), value.decode()) for key, value in wanted.items()))
    some = range(0, count, max(1, count // 200))
    for number in some:
        key = name(number)
        expect(world("get", key), b"value %d" % number, f"value of {number}")
        world("mv", key, name(number, "m"))
        world("get", key, status=3)
        wanted[name(number, "m").encode()] = wanted.pop(key.encode())
    if planted:
        wanted[name(count).encode()] = wanted.pop(next(iter(wanted)))
    listing = timed(lambda: expect(world.names() == sorted(wanted), True, "list is as it has to be"))
    expect(world.names("m/") == sorted(key for key in wanted if key[:2] == b"m/"), True, "list of m/")
    for number in list(some)[:20]:
        key = name(number, "m")
        expect(world("find", f"/{number:08}").decode(), key + "\n", f"find of {number}")
        expect(world("get", key), b"value %d" % number, f"value of {number} by its new name")
    too_long = name(0) + "x"
    world("put", too_long, data=b"value", status=2)
    world("get", too_long, status=2)
    say(f"{count:,} names of {LONGEST:,} bytes stored in {filling:.1f} s, listed in {listing:.2f} s, "
        f"verified in {world.verify():.1f} s; agent {world.memory():,} KiB")


run(trial, 20)
