#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Cases of merging, and what the model makes of them: what the engine has to make of them, too.

merge_cases.py --seed S --count N       to standard output, a line an assertion:

    case S/STEP                         a case begins
    history VECTOR                      a history, of three: what was purged, then its revisions
    revision ID DEPTH DEVICE:COUNT VECTOR KIND CLASS FIELD=STAMP=CONTENT,... ...
    take | view | prune ...             of the first two, merged; change ... of the last of these
    register, slots, names              what is no item's

Ids have 32 digits; a content is -, a digest, or of a code SEED+COUNTER.
"""
import argparse
import hashlib
import itertools
import random

import merge_fuzz as F
import merge_model as M

# Worlds in which something happens that is rare: two counters of one secret of which the lower is deeper; a content that
# a side knew and left out without a later one; one in conflict that was purged; a name that is cut inside a character; one
# that was purged and is later than what a side still has.
RARE = {("p", 195): [76], ("p", 210): [76], ("p", 6): [20, 68], ("p", 578): [76]}
POOL = ["a", "b", "a (%s)", "é" * 505, "日" * 341, "x" * 1013, "x" * 1024]


def wide(id):
    return id.ljust(32, "0")


def vector(v):
    return ",".join(f"{wide(d)}:{n}" for d, n in v) or "-"


def content(c):
    if c is None:
        return "-"
    if isinstance(c, tuple):
        return f"{content(c[0])}+{c[1]}"
    return hashlib.blake2b(c.encode(), digest_size=16).hexdigest()


def field(name):
    return name.split(":")[1].encode().hex() if ":" in name else name


def order(name):
    return ("value", "name").index(name) if name in ("value", "name") else 2, field(name)


def stamps(versions, first=None):
    rest = sorted((v for v in versions if v != first), key=lambda v: v[:2])
    return ",".join(f"{wide(v.id)}:{v.depth}:{wide(v.device)}:{v.count}={content(v.content)}"
                    for v in ([first] if first else []) + rest)


def by_age(revisions):
    return sorted(revisions, key=lambda r: (r.depth, r.id))


def revision(r):
    fields = sorted(((f, v) for f, v in r.fields if v), key=lambda x: order(x[0]))
    return " ".join(["revision", wide(r.id), str(r.depth), f"{wide(r.device)}:{r.count}", vector(r.vector), r.kind,
                     r.cls] + [f"{field(f)}={stamps(v, M.row_content(r, v))}" for f, v in fields])


def history(item):
    return [f"history {vector(item.purged)}"] + [revision(r) for r in by_age(item.revisions)]


def ids(revisions):
    return " ".join([""] + [wide(r.id) for r in by_age(revisions)])


def view(item):
    v = M.view(item)
    out = [f"view {v.kind} {v.cls}{ids(M.sides(item))}"]
    for f in sorted(v.standing, key=order):
        beside = {c for g, c in v.conflicts if g == f}
        conflicts = ",".join(sorted(map(content, beside)))
        out.append(f"shown {field(f)} {content(v.shown[f])} {stamps(v.standing[f])} {conflicts or 'settled'}")
    return out + [f"against {c}" for f, c in sorted(x for x in v.conflicts if x[0] == "kind")]


def change(rng, world, item):
    """A change of any kind on what was merged, as it is asked for, and what comes of it."""
    v, kind, cls, sets, settle = M.view(item), M.LIVE, None, {}, False
    if v.kind == M.PURGED:
        return []
    new, device, count = world.fresh(), rng.choice(world.devices).id, 1000
    at = dict(device=device, count=count, new_id=new)
    op = rng.choice(["put", "code", "attr", "mv", "rm", "restore", "purge", "protect", "unprotect"])
    if "value" not in v.shown and op != "purge":
        op = "put"              # nothing brings back what has no value
    if op == "purge":
        after = M.purge(item, **at)
        return [f"purge {wide(new)} {wide(device)}:{count}"] + history(after) + view(after)
    if op == "put":
        sets = {"value": "new"}
    elif op == "code":
        old = v.shown["value"]
        sets = {"value": (old[0], old[1] + 1) if isinstance(old, tuple) else ("seed", 1)}
    elif op == "attr":
        sets = {"attr:" + rng.choice("xyz"): rng.choice([None, "1"])}
    elif op == "mv":
        sets = {"name": "elsewhere"}
    elif op == "rm":
        kind = M.DELETED
    elif op == "restore":
        sets, settle = {"value": "old"}, True
    else:
        cls = M.PROTECTED if op == "protect" else M.STANDARD
    after = M.change(item, kind=kind, cls=cls, sets=sets, settle=settle, **at)
    made = next(r for r in after.revisions if r.id == new)
    asked = "".join(f" {field(f)}={content(c)}" for f, c in sets.items())
    return [f"change {wide(new)} {wide(device)}:{count} {kind} {cls or '-'} {'settle' if settle else 'keep'}{asked}",
            revision(made)] + view(after)


def item_case(rng, world, a, b, c):
    merged = M.merge(a, b)
    taken = merged.revisions - a.revisions
    depth = rng.randint(0, 3)
    return (history(a) + history(b) + history(c) + [f"take {vector(merged.purged)}{ids(merged.revisions)}"]
            + [f"number{ids(taken)}"] + view(merged) + [f"prune {depth}{ids(M.prune(merged, depth).revisions)}"]
            + change(rng, world, merged))


def register_case(a, b, c):
    def side(r):
        return f"side {wide(r.id)} {r.depth} {wide(r.device)}:{r.count} {vector(r.vector)} {M.content_of(r)}"
    merged = M.merge_register(a, b)
    return [line for x in (a, b, c) for line in ["register", *map(side, by_age(x.revisions))]] + [
        f"stands{ids(merged.revisions)}", f"strictest {M.setting(merged)}"]


def slot_case(a, b, c):
    def side(r):
        table = ",".join(f"{wide(s.id)}:{s.kind}:{wide(s.device)}:{s.count}" for s in sorted(M.content_of(r)))
        return f"side {wide(r.id)} {r.depth} {wide(r.device)}:{r.count} {vector(r.vector)} {table}"
    merged = M.merge_register(a, b)
    return [line for x in (a, b, c) for line in ["slots", *map(side, by_age(x.revisions))]] + [
        f"stands{ids(merged.revisions)}", " ".join(["open", *sorted(wide(s.id) for s in M.slots(merged))])]


def name_case(rng):
    views, lines = {}, []
    for _ in range(rng.randint(1, 7)):
        # Few leading digits, so that eight of them are not always enough.
        i = rng.choice(["0a1b2c3d", "0a1b2c3e"]) + rng.choice(["00", "01"]) + f"{rng.getrandbits(88):022x}"
        name = rng.choice(POOL[:3] if rng.random() < .7 else POOL)
        name = name % rng.choice([i, "0a1b2c3d"])[:8] if "%" in name else name
        views[i] = M.View(rng.choice([M.LIVE, M.LIVE, M.DELETED, M.PURGED]), rng.choice([M.STANDARD, M.PROTECTED]),
                          {"name": name}, frozenset(), {})
    placed = M.resolve_names(views)
    for i, v in views.items():
        lines.append(f"wants {i} {v.kind} {v.cls} {v.shown['name'].encode().hex()} "
                     f"{placed[i].encode().hex() if i in placed else '-'}")
    return ["names"] + lines


def cases(seed, count):
    for start, number in itertools.chain(RARE, ((seed, n) for n in itertools.count())):
        if count <= 0:
            return
        rng = random.Random(f"{start}/{number}")
        world = F.World(rng)
        for step in range(80):
            world.rng = random.Random(f"{start}/{number}/{step}")
            world.step()
            ready = [d for d in world.devices if not d.stale]
            if step < 20 or step % 4 or not ready:
                continue
            every = sorted({i for d in ready for i in d.items})
            pick = [rng.choice(ready) for _ in range(3)]
            made = [item_case(rng, world, *(d.items.get(i, M.Item()) for d in pick)) for i in every
                    if any(i in d.items for d in pick[:2])]
            made += [register_case(*(d.setting for d in pick)), slot_case(*(d.slots for d in pick)), name_case(rng)]
            if step not in RARE.get((start, number), [step]):
                continue
            for lines in made[:count]:
                yield [f"case {start}/{number}/{step}"] + lines
            count -= len(made[:count])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", default="1")
    p.add_argument("--count", type=int, default=100)
    o = p.parse_args()
    for lines in cases(o.seed, o.count):
        print("\n".join(lines))


if __name__ == "__main__":
    main()
