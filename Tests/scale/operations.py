#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""operations.py ITEMS OPERATIONS: random work on many items, each answer compared with a model's."""
import hashlib, random

from world import World, expect, expect_at_most, expect_objection, run, say, timed

# What the policy keeps beside the current revision.
HISTORY = 10
# KiB that the agent may be larger after all the work than after a tenth of it. In a short run the 4 MiB
# that SQLite keeps of the file fill meanwhile.
GROWTH, SHORT_GROWTH = 2048, 5120
# Names that are taken again more often than others.
RECENT = 1000


def text(seed, size):
    """A value, from next to nothing."""
    return hashlib.shake_128(b"%d" % seed).hexdigest((size + 1) // 2)[:size].encode()


class Item:
    """Its revisions that are kept, the current one last: number, and value or None when deleted."""

    def __init__(self, revisions):
        self.revisions = revisions

    @property
    def number(self):
        return self.revisions[-1][0]

    @property
    def value(self):
        return self.revisions[-1][1]

    def add(self, value):
        self.revisions.append((self.number + 1, value))
        del self.revisions[: -HISTORY - 1]


class Model:
    """What has to be in the vault. Of items that nobody touched nothing is kept."""

    def __init__(self, count):
        self.count = count
        self.touched = {}

    def first(self, name):
        """What the name had from the beginning."""
        if not name.startswith("i") or int(name[1:]) >= self.count:
            return None
        return Item([(1, (int(name[1:]), 32))])

    def item(self, name):
        """The item of a name, to be changed; None where there is none."""
        if name not in self.touched:
            self.touched[name] = self.first(name)
        return self.touched[name]

    def live(self):
        for number in range(self.count):
            if (name := f"i{number:07}") not in self.touched:
                yield name
        yield from (name for name, item in self.touched.items() if item and item.value)


class Work:
    """Random operations; each returns after it compared what was seen."""

    def __init__(self, world, model, seed):
        self.world, self.model, self.random = world, model, random.Random(seed)
        self.fresh, self.recent = 0, []
        kinds = {
            self.put: 14, self.replace: 30, self.remove: 10, self.move: 8, self.get: 24, self.past: 4,
            self.history: 2, self.restore: 6, self.purge: 1, self.attribute: 1}
        self.kinds, self.weights = list(kinds), list(kinds.values())

    def step(self):
        self.random.choices(self.kinds, self.weights)[0](*self.chosen())

    def chosen(self):
        """A name, often one that was touched before, and its item."""
        if self.recent and self.random.random() < 0.6:
            name = self.random.choice(self.recent)
        else:
            name = f"i{self.random.randrange(self.model.count):07}"
        self.remember(name)
        return name, self.model.item(name)

    def remember(self, name):
        """Few enough names that some of them come to a full history."""
        if len(self.recent) < RECENT:
            self.recent.append(name)
        else:
            self.recent[self.random.randrange(RECENT)] = name

    def new_value(self):
        size = self.random.choices([16, 200, 3000, 30_000, 100_000], [40, 40, 10, 1, 1])[0]
        return self.random.randrange(2**60), size

    def put(self, name, item):
        value = self.new_value()
        if item and item.value:
            return self.world("put", name, data=text(*value), status=11)
        self.world("put", name, data=text(*value))
        self.store(name, item, value)

    def replace(self, name, item):
        value = self.new_value()
        self.world("put", name, "--replace", data=text(*value))
        self.store(name, item, value)

    def store(self, name, item, value):
        if item:
            item.add(value)
        else:
            self.model.touched[name] = Item([(1, value)])

    def remove(self, name, item):
        if not (item and item.value):
            return self.world("rm", name, status=3)
        self.world("rm", name)
        item.add(None)

    def move(self, name, item):
        self.fresh += 1
        new, other = f"m{self.fresh}", None
        if self.random.random() < 0.5:
            new, other = self.chosen()
        if not (item and item.value):
            return self.world("mv", "--replace", name, new, status=3)
        self.world("mv", "--replace", name, new)
        if name == new:
            return
        if other and other.value:
            other.add(None)
        self.model.touched[new], self.model.touched[name] = item, other
        self.remember(new)

    def get(self, name, item):
        if not (item and item.value):
            return self.world("get", name, status=3)
        expect(self.world("get", name), text(*item.value), f"value of {name}")

    def past(self, name, item):
        values = [revision for revision in item.revisions if revision[1]] if item else []
        if not values:
            return self.world("get", name, "--revision", "1", status=3)
        number, value = self.random.choice(values)
        seen = self.world("get", name, "--revision", str(number))
        expect(seen, text(*value), f"revision {number} of {name}")

    def history(self, name, item):
        if not item:
            return self.world("history", name, status=3)
        lines = self.world("history", name).decode().splitlines()
        seen = [(int(line.split()[0]), not line.endswith("deleted")) for line in lines]
        wanted = [(number, value is not None) for number, value in item.revisions]
        expect(seen, wanted, f"history of {name}")

    def restore(self, name, item):
        if not item:
            return self.world("restore", name, status=3)
        if item.value:
            return self.world("restore", name, status=11)
        if len(item.revisions) > 1:
            self.world("restore", name)
            item.add(item.revisions[-2][1])

    def purge(self, name, item):
        if not item:
            return self.world("purge", "--yes", name, status=3)
        if item.value and self.random.random() < 0.5:
            self.world("purge", "--yes", "--history", name)
            del item.revisions[:-1]
        else:
            self.world("purge", "--yes", name)
            self.model.touched[name] = None

    def attribute(self, name, item):
        if not (item and item.value):
            return self.world("attr", name, "key=value", status=3)
        self.world("attr", name, "key=value")
        item.add(item.value)


def trial(items, operations, planted=False):
    world, model = World(), Model(items)
    filling = timed(
        lambda: world.fill((f"i{n:07}", text(n, 32).decode()) for n in range(items)))
    say(f"{items:,} items stored in {filling:.1f} s; agent {world.memory():,} KiB")
    # What the agent keeps of the tree and of the file is as large as it gets, before it is measured.
    world.names()
    work = Work(world, model, seed=items)
    marks = {operations // 10: None, operations: None}
    start = 0
    for mark in marks:
        took = timed(lambda: [work.step() for _ in range(start, mark)])
        marks[mark], start = world.memory(), mark
        say(f"{mark:,} operations: agent {marks[mark]:,} KiB; the last of them {took:.0f} s")
    if planted:
        name = next(name for name, item in model.touched.items() if item and item.value)
        model.touched[name].add((1, 1))
    first, last = marks.values()
    if planted:
        expect_objection(lambda: expect_at_most(last, GROWTH, "KiB"), "an agent that is too large")
    growth = GROWTH if operations >= 10_000 else SHORT_GROWTH
    expect_at_most(last, first + growth, "KiB of the agent after all operations")
    check(world, model, work)


def check(world, model, work):
    """All names, many values, and the vault as a whole."""
    seen, wanted = world.names(), sorted(name.encode() for name in model.live())
    expect(len(seen), len(wanted), "items")
    expect(seen == wanted, True, "names are those of the model")
    for name in list(model.touched)[:5000]:
        work.get(name, model.touched[name])
    say(f"verify in {world.verify():.1f} s; {world.size() / len(seen):,.0f} bytes of file an item")
    world("lock")
    world.unlock()
    world("list", "m1")


run(trial, 50, 100)
