#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Random runs of merge_model.py against a record of what really followed what.

python3 merge_fuzz.py [--runs N] [--seed S] [--steps K] [--old RULE]      (RULE: one of RULES)
A failing run prints its seed and the fewest steps that a little shrinking finds.
"""
import argparse
import copy
import random
import merge_model as M

POOL = ["a", "b", "c"]
# The rules as they were first written, or left out, each with a seed whose run of 80 steps fails by it.
RULES = {
    "fields": 1,            # whole revisions compete
    "own-entry": 1,         # a change follows the winner alone
    "purge": 6,             # marks of revision ids
    "counter": 39,          # counted per item
    "names": 48,            # wanted names first
    "history": 1,           # alike with the history
    "settings": 146,        # only the winner is kept
    "renumber": 22,         # all own revisions since the head
    "pack-ids": 134,        # the ids of own dropped rows are forgotten
    "seen": 15,             # only the store shows an old copy
    "later": 46,            # what is known and left out is replaced
    "open": 3,              # rows are pruned that alone have a content which stands
    "purged-open": 90,      # what a purge covers stands, though no row has it
    "purged-later": 1272,   # what a purge covers replaces others, though no row has it
    "deleted-row": 237,       # a deletion passes for a row that has the value
    "attributes": 1,        # edits of attributes count to the depth as values do
}


class Failed(Exception):
    pass


class Device:
    def __init__(self, id):
        self.id, self.count, self.items, self.known = id, 0, {}, {}
        self.head, self.head_count, self.stale, self.merged_from = None, 0, False, 0
        self.setting, self.slots = M.Item(), M.Item()
        self.owns = {}      # id -> count of what was made here: kept and pushed also when its row is gone


class World:
    def __init__(self, rng):
        self.rng, self.serial = rng, 0
        self.made, self.ancestors, self.op = {}, {}, {}     # the record: revision id -> ...
        self.heads, self.states, self.published = {}, {}, {}    # the store
        first = Device("d0")
        first.slots = M.write_register(first.slots, frozenset(
            {M.Slot("50", 1, "d0", 1), M.Slot("51", 2, "d0", 1)}), "d0", 1, "e0")
        first.setting = M.write_register(first.setting, 9, "d0", 2, "e1")
        first.count, first.owns = 2, {"e0": 1, "e1": 2}
        self.devices = [copy.deepcopy(first) for _ in range(rng.randint(3, 6))]
        for n, d in enumerate(self.devices[1:], 1):
            d.id, d.count, d.owns = f"d{n}", 0, {}
        self.backups, self.links = [], None

    def fresh(self):        # random-looking ids: their order has nothing to do with time
        self.serial += 1
        return f"{self.rng.getrandbits(48):012x}"

    def tick(self, d, item=None):
        if "counter" in M.OLD and item is not None:         # per item, from what is held
            return 1 + max([dict(r.vector).get(d.id, 0) for r in item.revisions], default=0)
        d.count += 1
        return d.count

    # --- one step ---
    def step(self):
        r, d = self.rng, self.rng.choice(self.devices)
        what = r.choices(["op", "file", "sync", "backup", "restore", "prune", "partition", "setting", "slots"],
                         [60, 12, 14, 2, 2, 6, 2, 3, 4])[0]
        getattr(self, "do_" + what)(d)

    def do_op(self, d):
        r = self.rng
        live = [i for i in d.items if M.view(d.items[i]).kind != M.PURGED]
        name = r.choice(POOL)
        if live and r.random() < .1:
            i = r.choice(live)
            name = f"{M.view(d.items[i]).shown['name']} ({i[:8]})"
        free = name not in M.resolve_names({i: M.view(d.items[i]) for i in d.items}).values()
        new_id = self.fresh()
        if not live or (r.random() < .12 and free and len(d.items) < 4):
            i, op = f"{r.getrandbits(128):032x}", "new"
            item = M.Item()
        else:
            i = r.choice(live)
            item, op = d.items[i], r.choice(["put", "put", "code", "attr", "attr", "mv", "rm", "restore", "purge",
                                             "protect", "unprotect", "keep"])
            if "value" not in M.view(item).standing and op not in ("rm", "purge"):
                op = "put"              # nothing brings back what has no value
        at = dict(device=d.id, count=self.tick(d, item), new_id=new_id)
        if op == "new":
            item = M.put(item, "v" + new_id, name, cls=r.choice([M.STANDARD, M.PROTECTED]), **at)
        elif op == "put":
            item = M.put(item, "v" + new_id, **at)
        elif op == "code":
            old = M.view(item).shown["value"]
            item = M.put(item, (old[0], old[1] + 1) if isinstance(old, tuple) else ("s" + i[:2], 1), **at)
        elif op == "attr":
            item = M.attr(item, r.choice("xy"), r.choice([None, "1", new_id]), **at)
        elif op == "mv":
            item = M.mv(item, name if free else name + new_id, **at)
        elif op in ("restore", "keep"):
            values = sorted({str(v.content) for v in M.view(item).standing["value"]})
            item = M.restore(item, r.choice(values), **at)
        elif op == "purge" and r.random() < .6:
            op, item = "rm", M.rm(item, **at)
        else:
            item = getattr(M, op)(item, **at)
        d.items[i] = item
        known = d.known.setdefault(i, set())
        self.ancestors[new_id], self.op[new_id] = frozenset(known), op
        self.made[new_id] = next(x for x in item.revisions if x.id == new_id)
        known.add(new_id)
        d.owns[new_id] = at["count"]

    def take(self, d, other):
        for i in other.items:
            d.items[i] = M.merge(d.items.get(i, M.Item()), other.items[i])
            d.known[i] = d.known.get(i, set()) | other.known[i]
        d.setting = M.merge_register(d.setting, other.setting)
        d.slots = M.merge_register(d.slots, other.slots)
        self.check_local(d)

    def reach(self, a, b):
        return self.links is None or (a in self.links) == (b in self.links)

    def do_file(self, d):
        """kura merge OTHER.kura"""
        other = self.rng.choice(self.devices)
        if other is not d and self.reach(self.devices.index(d), self.devices.index(other)) \
                and not (d.stale or other.stale):
            other.merged_from += 1
            self.take(d, other)

    def do_sync(self, d, all_of_it=False):
        r = self.rng
        if self.heads.get(d.id) != d.head:
            self.found_forked(d)
        for id in sorted(self.states):
            if id != d.id and (all_of_it or r.random() < .7):
                self.take(d, self.states[id])
        d.stale = False
        d.head = self.heads[d.id] = self.fresh()
        d.head_count = d.count
        state = copy.copy(d)
        state.items, state.known = dict(d.items), {i: set(k) for i, k in d.known.items()}
        self.states[d.id] = state
        if "pack-ids" in M.OLD:     # what its packs hold; pruned and purged before the push: not there
            d.owns = {x.id: x.count for i in [*d.items.values(), d.setting, d.slots] for x in i.revisions
                      if x.device == d.id}
        self.published.setdefault(d.id, set()).update(d.owns)

    def found_forked(self, d):
        ids, new = self.published.get(d.id, set()), "d" + self.fresh()
        last = d.head_count
        if "renumber" in M.OLD:
            ids = set()
        last = max([last] + [n for id, n in d.owns.items() if id in ids])
        for i in d.items:
            d.items[i] = M.renumber(d.items[i], d.id, last, new, ids)
        d.setting, d.slots = (M.renumber(x, d.id, last, new, ids) for x in (d.setting, d.slots))
        for i in d.items.values():
            for x in i.revisions:
                if x.device == new:
                    self.made[x.id] = x
        d.owns = {id: n - last for id, n in d.owns.items() if n > last}
        d.id, d.count, d.head, d.head_count = new, max(0, d.count - last), None, 0

    def do_backup(self, d):
        if not d.stale:
            self.backups.append((d, copy.deepcopy(d)))

    def do_restore(self, d):
        if not self.backups:
            return
        d, old = self.rng.choice(self.backups)
        noticed = "seen" not in M.OLD and (self.rng.random() < .5 or d.merged_from != old.merged_from)
        merged = d.merged_from
        twice = self.rng.random() < .3 and len(self.devices) < 7 and d in self.devices and not d.stale
        if d not in self.devices and not twice:
            return
        fresh = copy.deepcopy(old)
        fresh.merged_from = merged
        if noticed:             # the seen file shows it, or it is another machine: a new id at once
            fresh.id, fresh.count, fresh.head, fresh.head_count = "d" + self.fresh(), 0, None, 0
            fresh.owns = {}
        else:                   # only the store can show it
            fresh.stale = True
            if "seen" in M.OLD:
                fresh.stale = False
        if twice:
            d.stale = d.stale or not noticed and "seen" not in M.OLD
            self.devices.append(fresh)
            self.backups = [b for b in self.backups if b[0] is not d]
        else:
            self.devices[self.devices.index(d)] = fresh
            self.backups = [b for b in self.backups if b[0] is not d]

    def do_prune(self, d):
        for i, item in d.items.items():
            d.items[i] = M.prune(item, 2)
            had, kept = (sum(map(M.sets_value, x.revisions - M.sides(item))) for x in (item, d.items[i]))
            need(kept >= min(had, 2), "attributes pushed a value out of the history")

    def do_partition(self, d):
        n = len(self.devices)
        self.links = None if self.links else set(self.rng.sample(range(n), n // 2))

    def do_setting(self, d):
        id = self.fresh()
        n = self.tick(d)
        d.setting = M.write_register(d.setting, self.rng.randint(1, 20), d.id, n, id)
        d.owns[id] = n

    def do_slots(self, d):
        now, n, id = M.slots(d.slots), self.tick(d), self.fresh()
        new = M.Slot(id, self.rng.choice([1, 2, 3]), d.id, n)
        gone = self.rng.choice(sorted(now))
        then = now | {new} if self.rng.random() < .4 else now - {gone}
        if any(s.kind in (1, 2) for s in then):
            d.slots = M.write_register(d.slots, then, d.id, n, id)
            d.owns[id] = n

    # --- what must hold ---
    def check_local(self, d):
        views = {i: M.view(d.items[i]) for i in d.items}
        need(all("name" in v.shown for v in views.values() if v.kind != M.PURGED), "an item without a name")
        for i, v in views.items():
            rows = [r for r in d.items[i].revisions if r.kind == M.LIVE]
            need(v.kind != M.LIVE or "value" in v.standing and M.has_row(rows, "value", M.pick(v.standing["value"])),
                 "a value that is nowhere")
        names = M.resolve_names(views)
        alone = M.resolve_names({i: v for i, v in views.items() if v.cls == M.PROTECTED})
        need(all(names[i] == alone[i] for i in alone), "a standard item stands in a protected one's place")
        need(len(set(names.values())) == len(names), "one name twice")
        need(any(s.kind in (1, 2) for s in M.slots(d.slots)), "no slot of kind 1 or 2")
        for i, v in views.items():
            self.check_class(v, d.known[i])
            for field, versions in v.standing.items():
                for x in versions:
                    need(M.has_row(d.items[i].revisions, field, x), "a content that stands is in no row")

    def check_class(self, v, known):
        if v.cls == M.STANDARD:
            for p in known:
                if self.made[p].cls == M.PROTECTED:
                    need(any(self.op[u] == "unprotect" and p in self.ancestors[u] for u in known),
                         "protected became standard without an unprotect that follows")

    def check_triples(self):
        ready = [d for d in self.devices if not d.stale]
        for _ in range(6):
            a, b, c = (self.rng.choice(ready) for _ in range(3)) if ready else (None,) * 3
            if a is None:
                return
            pairs = [(x.setting, y.setting, z.setting, M.merge_register) for x, y, z in [(a, b, c)]]
            pairs += [(a.slots, b.slots, c.slots, M.merge_register)]
            for i in set(a.items) & set(b.items) & set(c.items):
                pairs.append((a.items[i], b.items[i], c.items[i], M.merge))
            for x, y, z, merge in pairs:
                e = M.essence
                need(e(merge(x, x)) == e(x), "merge is not idempotent")
                need(e(merge(x, y)) == e(merge(y, x)), "merge is not commutative")
                need(e(merge(merge(x, y), z)) == e(merge(x, merge(y, z))), "merge is not associative")

    def fingerprint(self, d):
        views = {i: M.view(d.items[i]) for i in d.items}
        names = M.resolve_names(views)
        return (sorted((i, M.essence(d.items[i]), v.kind, v.cls, sorted(v.shown.items(), key=str), v.conflicts,
                        names.get(i)) for i, v in views.items()),
                M.setting(d.setting), M.essence(d.setting), sorted(M.slots(d.slots)))

    def finish(self):
        self.links = None
        for d in self.devices:                      # stale ones first learn who they are
            self.do_sync(d, True)
        for _ in range(4):
            for d in self.devices:
                self.do_sync(d, True)
        prints = [self.fingerprint(d) for d in self.devices]
        need(all(p == prints[0] for p in prints), "devices differ after full exchange")
        d = self.devices[0]
        for i, item in d.items.items():
            self.check_truth(i, item, d.known[i])

    def check_truth(self, i, item, known):
        """Against the record: who really followed whom."""
        anc, v = self.ancestors, M.view(item)
        top = {r for r in known if not any(r in anc[x] for x in known)}
        held = {r.id for r in M.sides(item)}
        need(not top - held, "a revision that nothing follows is lost")
        need(not held - top, "a revision stands beside one that followed it")
        self.check_class(v, known)
        live = any(self.made[r].kind == M.LIVE for r in top)
        need(live == (v.kind == M.LIVE), "deleted against changed")
        purged = {a for p in known if self.op[p] == "purge" for a in anc[p]}
        need(not purged & {r.id for r in item.revisions}, "a purged revision is held")
        if not live:
            return
        for field, versions in v.standing.items():
            for x in versions:
                for y in versions:
                    kept_open = y in dict(self.made[x.id].fields).get(field, ())
                    need(kept_open or y.id not in anc[x.id], "a conflict that nobody made: " + field)
        now = {x.id for x in v.standing["value"]}
        for r in known:
            if self.op[r] in ("new", "put", "code", "restore", "keep") and r not in now:
                need(any(r in anc[x] and self.op[x] in ("put", "code", "restore", "keep", "rm", "purge", "new")
                         for x in known), "a value is lost")
        # Of codes that the latest is one of, the higher counter is shown: it may be older, and open still.
        latest = max(v.standing["value"], key=lambda x: x[:2])
        for r in top:
            if self.made[r].kind == M.LIVE and self.op[r] in ("put", "new", "restore", "keep"):
                need(latest.id not in anc[r], "the value shown is older than a change of it")


def need(ok, text):
    if not ok:
        raise Failed(text)


def run(seed, steps, skip=frozenset()):
    """Each step has its own random numbers, so that steps can be left out."""
    w = World(random.Random(seed))
    for n in range(steps):
        if n not in skip:
            w.rng = random.Random(f"{seed}/{n}")
            w.step()
            if n % 20 == 19:
                w.check_triples()
    w.rng = random.Random(f"{seed}/end")
    w.check_triples()
    w.finish()
    return w


def failure(seed, steps, skip=frozenset()):
    try:
        run(seed, steps, skip)
    except Failed as e:
        return str(e)
    except (KeyError, ValueError) as e:     # a field for which no content stands
        return f"no content stands: {e!r}"


def shrink(seed, steps, text):
    skip = set()
    for size in (16, 4, 1):
        for start in range(0, steps, size):
            more = skip | set(range(start, min(steps, start + size)))
            if failure(seed, steps, more) == text:
                skip = more
    return [n for n in range(steps) if n not in skip]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--runs", type=int, default=200)
    p.add_argument("--steps", type=int, default=80)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--old", action="append", default=[], choices=sorted(RULES))
    o = p.parse_args()
    M.OLD.update(o.old)
    for seed in range(o.seed, o.seed + o.runs):
        text = failure(seed, o.steps)
        if text:
            left = shrink(seed, o.steps, text)
            print(f"seed {seed}: {text}; {len(left)} steps are enough: {left}")
            raise SystemExit(1)
    print(f"{o.runs} runs of {o.steps} steps from seed {o.seed}: all held")


if __name__ == "__main__":
    main()
