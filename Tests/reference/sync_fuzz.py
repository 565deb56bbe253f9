#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Random runs of the machines of sync_world.py, and what fails in the fewest steps that a little shrinking finds.

python3 sync_fuzz.py [--runs N] [--seed S] [--steps K] [--machines M] [--fault NAME]
"""
import argparse
import random

import sync_vault as V
from sync_oracle import Failed
from sync_pull import LATE
from sync_world import World

ROUNDS = 40
# Rules that are left out, each with a seed whose run of 120 steps fails by it: of syncing, of the carrier, of the merge.
FAULTS = {
    "pieces": 40,           # a row is taken before all of its long value is here
    "fork point": 10,       # two lines of one id parted where their common head is
    "missing": 20,          # a head counts as taken of which something is missing
    "standing": 1782,       # a row goes without those that show what stands beside it
    "head first": 13,       # the head is written before what it names
    "twin": 7,              # nobody sees that two machines have one id
    "lost": 20,             # what the store lost is not sealed anew
    "carrier": 1,           # files are not carried, and it is not told
    "round": 1,             # who is asked to seal all anew does not
    "apart": 1,             # one of two rounds that were begun apart counts for both
}
MERGE_FAULTS = {"own-entry": 2, "fields": 2, "purge": 21}


def run(seed, steps, machines=4, skip=frozenset(), clocks=True):
    """Each step has its own random numbers, so that steps can be left out."""
    world = World(seed, machines, clocks=clocks)
    for n in range(steps):
        if n not in skip:
            world.rng = random.Random(f"{seed}/{n}")
            world.step()
    world.rng = random.Random(f"{seed}/end")
    finish(world)
    return world


def finish(world):
    """All carriers catch up, all owners are there, and everybody syncs until nothing changes; then one has all sealed anew."""
    world.finishing, world.links = True, None
    for machine in world.machines:
        machine.session, machine.folder.stale = None, 0
    rest(world)
    world.ledger.check_all([machine.vault for machine in world.machines])
    world.ledger.check_store(world)
    world.ledger.check_rounds(world)
    if world.remove_ghosts():           # nothing of them is ever said to be needed no more
        rest(world)
    for _ in world.session(world.machines[0], compacts=True).run():
        pass
    rest(world)
    world.ledger.check_compact(world)


def rest(world):
    for _ in range(ROUNDS):
        before = state(world)
        world.settle()
        late = False
        for machine in world.machines:
            session = world.session(machine, passcode=True)
            for _ in session.run():
                pass
            world.ledger.alarms(session.alarms(), world.causes)
            late |= any(kind == LATE for kind, _ in session.named)
        world.settle()
        if state(world) == before and not (late and world.remove_ghosts()):
            break
    else:
        raise Failed("it does not come to rest")
    world.ledger.check_all([machine.vault for machine in world.machines])
    world.ledger.check_store(world)


def state(world):
    return ({path: file.name for path, file in world.hub.files.items()},
            [(m.vault.device, m.vault.epoch, {i: frozenset(r.id for r in item.revisions) for i, item in m.vault.items.items()},
              m.vault.last) for m in world.machines])


def failure(seed, steps, machines=4, skip=frozenset()):
    try:
        run(seed, steps, machines, skip)
    except Failed as e:
        return str(e)


def shrink(seed, steps, machines, text):
    """Steps that can be left out are left out, many at once first, until none can be."""
    skip, kind, before = set(), text.split(":")[0], None
    while skip != before:
        before = set(skip)
        for size in (64, 16, 4, 1):
            for start in range(0, steps, size):
                more = skip | set(range(start, min(steps, start + size)))
                if more != skip and (failure(seed, steps, machines, more) or "").split(":")[0] == kind:
                    skip = more
    return [n for n in range(steps) if n not in skip]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--runs", type=int, default=10)
    p.add_argument("--steps", type=int, default=300)
    p.add_argument("--machines", type=int, default=4)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--fault", action="append", default=[])
    o = p.parse_args()
    V.FAULTS.update(o.fault)
    for seed in range(o.seed, o.seed + o.runs):
        text = failure(seed, o.steps, o.machines)
        if text:
            left = shrink(seed, o.steps, o.machines, text)
            print(f"seed {seed}: {text}; {len(left)} steps are enough: {left}")
            raise SystemExit(1)
    print(f"{o.runs} runs of {o.steps} steps from seed {o.seed}: all held")


if __name__ == "__main__":
    main()
