# SPDX-License-Identifier: MIT
"""How copies of one vault are merged: the model by which the engine's Sources/KuraVault/Merge is judged.

The whole of it rests on one idea: a revision is immutable and knows, by a version vector, what it follows.
The state of an item is the set of its revisions that nothing held follows (the *sides*).  Merging is: unite,
drop what is followed.  Everything that is shown (value, name, class, conflicts) is a pure function of the
sides, so two machines with the same sides show the same, in whatever order they got there.  No merge
ever writes a revision.

OLD holds names of rules to be run as they were first written, to see how they fail (merge_fuzz.py --old NAME).
"""
from dataclasses import dataclass, replace
from typing import NamedTuple

OLD = set()
LIVE, DELETED, PURGED = "live", "deleted", "purged"
STANDARD, PROTECTED = "standard", "protected"


class Version(NamedTuple):
    """One content of one field, with the revision that set it."""
    depth: int
    id: str
    device: str
    count: int
    content: object


@dataclass(frozen=True)
class Revision:
    id: str
    depth: int              # 1 + the highest it follows
    device: str             # (device, count) is its entry: nobody else ever has it
    count: int
    vector: tuple           # ((device, count), ...) ascending; holds its own entry
    kind: str               # LIVE, DELETED or PURGED: of the revision as a whole
    cls: str                # STANDARD or PROTECTED: of the revision as a whole
    fields: tuple           # ((field, frozenset of Version), ...): several Versions = still in conflict


@dataclass(frozen=True)
class Item:
    revisions: frozenset = frozenset()      # the sides, and as much history as is kept here
    purged: tuple = ()                      # vector: what it covers was purged, and is never taken


# --- vectors ---------------------------------------------------------------------------------------------

def greatest(*vectors):
    out = {}
    for vector in vectors:
        for device, count in vector:
            out[device] = max(count, out.get(device, 0))
    return tuple(sorted(out.items()))


def covers(vector, entry):
    return dict(vector).get(entry.device, 0) >= entry.count


def follows(r, s):
    return r.id != s.id and (r.device, r.count) != (s.device, s.count) and covers(r.vector, s)


def sides_of(revisions):
    return frozenset(s for s in revisions if not any(follows(r, s) for r in revisions))


def sides(item):
    return sides_of(item.revisions)


# --- merge and prune --------------------------------------------------------------------------------------

def merge(a, b):
    """a's state after it took b's.  The sides and `purged` do not depend on the order; the history does."""
    purged = greatest(a.purged, b.purged)
    known = {r.id for r in a.revisions}
    taken = {r for r in b.revisions if r.id not in known and not any(follows(h, r) for h in a.revisions)}
    return Item(frozenset(r for r in a.revisions | taken if not is_purged(r, purged, a, b)), purged)


def is_purged(r, purged, a=None, b=None):
    if "purge" in OLD:          # marks of revision ids: (id, 1)
        return r.kind != PURGED and r.id in dict(purged)
    return covers(purged, r)


def row_content(r, versions):
    """The Version whose content stands in the row of r: what r set itself, else what was shown when it was made."""
    return next((v for v in versions if v.id == r.id), None) or pick(versions)


def in_row(r, field, version):
    """Whether the row of r has the content of a Version: not the value of a deleted one, which stands where it was set."""
    versions = dict(r.fields).get(field)
    return bool(versions) and row_content(r, versions) == version and (
        "deleted-row" in OLD or field != "value" or r.kind != DELETED)


def has_row(revisions, field, version):
    """Whether the content of a Version is still to be had: some row that is held has it."""
    return any(in_row(r, field, version) for r in revisions)


def prune(item, depth):
    """Local: keep the sides, the rows that alone have a content which stands, the `depth` latest others that set a
    value, and as many that did not: many edits of attributes push no value out."""
    keep = set(sides(item))
    latest = sorted(item.revisions - keep, key=lambda r: (r.depth, r.id), reverse=True)
    fields = sorted(view(item).standing.items(), key=lambda f: (f[0] != "value", f[0] != "name", f[0]))
    for field, versions in fields if "open" not in OLD else ():
        for v in sorted(versions, key=lambda v: v[:2]):
            if not has_row(keep, field, v):
                keep |= set([r for r in latest if has_row([r], field, v)][:1])
    rest = [r for r in latest if r not in keep]
    values = [r for r in rest if sets_value(r)]
    others = [r for r in rest if not sets_value(r)]
    if "attributes" in OLD:     # all counted alike
        values, others = rest, []
    return replace(item, revisions=frozenset(keep) | frozenset(values[:depth]) | frozenset(others[:depth]))


def sets_value(r):
    return any(v.id == r.id for v in dict(r.fields).get("value", ()))


def essence(item):
    """What must be alike everywhere: the sides and what was purged; not the history."""
    if "history" in OLD:
        return frozenset(r.id for r in item.revisions), item.purged
    return frozenset(r.id for r in sides(item)), item.purged


# --- what an item shows -----------------------------------------------------------------------------------

def contents(revisions, purged=()):
    """field -> the Versions that stand: held by some side, and replaced by none: a side replaces a Version that
    it knows, does not hold, and holds a later one (depth, id) for.  So the latest of all always stands.
    What a purge covers is there only where a side that the purge did not know has it in its row."""
    if "fields" in OLD and revisions:
        return old_contents(revisions)
    maps = [(r, dict(r.fields)) for r in revisions]
    out = {}
    for field in {f for _, m in maps for f in m}:
        every = {v for _, m in maps for v in m.get(field, ())}
        had = {v for v in every if not covers(purged, v) or any(in_row(r, field, v) for r, _ in maps)}
        if "purged-open" in OLD:
            had = every
        later = every if "purged-later" in OLD else had     # what is gone itself replaces nothing
        out[field] = frozenset(v for v in had
                               if not any(covers(r.vector, v) and v not in m.get(field, ())
                                          and ("later" in OLD or any(w[:2] > v[:2] and w in later
                                                                     for w in m.get(field, ())))
                                          for r, m in maps))
    return {field: versions for field, versions in out.items() if versions}


def old_contents(revisions):
    """As first written: whole revisions compete, attributes alone are joined."""
    top = max(revisions, key=lambda r: (r.depth, r.id))
    out = dict(top.fields)
    for r in revisions:
        for f, versions in dict(r.fields).items():
            if f in ("value", "name"):
                out[f] = out.get(f, frozenset()) | versions
    best = {f: pick(v) for f, v in dict(top.fields).items()}
    return {f: (frozenset(v) if f not in best else frozenset([best[f]]) | v) for f, v in out.items()}


def pick(versions):
    """The winner: depth, then id; never a clock.  Codes by counter with its secret: the highest counter."""
    best = max(versions, key=lambda v: (v.depth, v.id))
    if isinstance(best.content, tuple):
        same = [v for v in versions if isinstance(v.content, tuple) and v.content[0] == best.content[0]]
        best = max(same, key=lambda v: (v.content[1], v.depth, v.id))
    return best


def same_content(a, b):
    return a == b or isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]


class View(NamedTuple):
    kind: str
    cls: str
    shown: dict             # field -> content
    conflicts: frozenset    # (field, content that stands beside the shown one), ("kind", what was done there)
    standing: dict          # field -> Versions


def view(item):
    every = sides(item)
    live = [r for r in every if r.kind == LIVE]
    present = [r for r in every if r.kind != PURGED]        # what was deleted keeps its contents
    if "later" in OLD:
        present = live or present
    kind = LIVE if live else DELETED if present else PURGED
    cls = PROTECTED if any(r.cls == PROTECTED for r in every) else STANDARD
    standing = contents(present, item.purged)
    shown, conflicts = {}, set()
    for field, versions in standing.items():
        best = pick(versions)
        shown[field] = best.content
        rest = versions
        while rest := [v for v in rest if not same_content(v.content, best.content)]:
            best = pick(rest)
            conflicts.add((field, best.content))
    if live:
        conflicts |= {("kind", r.kind) for r in every if r.kind != LIVE}
    return View(kind, cls, shown, frozenset(conflicts) if kind == LIVE else frozenset(), standing)


# --- changes on one machine -------------------------------------------------------------------------------

def change(item, device, count, new_id, kind=LIVE, cls=None, sets=None, settle=False):
    """A new revision.  It follows everything held here and keeps what is open open: of a field that it sets it
    replaces the Version shown; with `settle` (restore, conflicts --keep) every field is left with one."""
    old, every = view(item), sides(item)
    base = every
    if "own-entry" in OLD and not settle and every:
        base = [max(every, key=lambda r: (r.depth, r.id))]
    depth = 1 + max([r.depth for r in every], default=0)
    vector = greatest(*[r.vector for r in base], item.purged if "purge" not in OLD else (), ((device, count),))
    fields = dict(old.standing)
    if settle:
        sets = {**old.shown, **(sets or {})}
    for field, content in (sets or {}).items():
        standing = fields.get(field, frozenset())
        rest = frozenset() if settle or not standing else standing - {pick(standing)}
        if field == "name":     # a new name settles the name
            rest = frozenset()
        fields[field] = rest | {Version(depth, new_id, device, count, content)}
    r = Revision(new_id, depth, device, count, vector, kind, cls or old.cls, tuple(sorted(fields.items())))
    return replace(item, revisions=item.revisions | {r})


def put(item, value, name=None, cls=None, **at):
    sets = {"value": value, **({} if name is None else {"name": name})}
    return change(item, sets=sets, cls=PROTECTED if cls == PROTECTED else None, **at)


def attr(item, key, content, **at):             # content None: deleted
    return change(item, sets={"attr:" + key: content}, **at)


def mv(item, name, **at):
    return change(item, sets={"name": name}, **at)


def rm(item, **at):
    return change(item, kind=DELETED, **at)


def restore(item, value, **at):                 # undelete, an old value, and conflicts --keep
    return change(item, sets={"value": value}, settle=True, **at)


def protect(item, **at):
    return change(item, cls=PROTECTED, **at)


def unprotect(item, **at):
    return change(item, cls=STANDARD, **at)


def purge(item, **at):
    """A revision without content that covers all that is known here; what it covers goes, history included."""
    gone = change(item, kind=PURGED, **at)
    r = next(r for r in gone.revisions if r.id == at["new_id"])
    purged = greatest(item.purged, [e for e in r.vector if e[0] != r.device],
                      [(r.device, r.count - 1)] if r.count > 1 else [])
    if "purge" in OLD:
        purged = greatest(item.purged, [(x.id, 1) for x in item.revisions])
    return Item(frozenset({replace(r, fields=())}), purged)


# --- names over a whole vault -----------------------------------------------------------------------------

def resolve_names(views):
    """item id -> the name under which it stands.  Derived, never stored: a function of (id, view) alone."""
    def rank(i):
        return (views[i].cls != PROTECTED, views[i].kind != LIVE, i)
    order = sorted((i for i in views if views[i].kind != PURGED), key=rank)
    taken, out = set(), {}
    if "names" in OLD:          # all the wanted names first, then the others
        for i in order:
            if views[i].shown["name"] not in taken:
                out[i] = views[i].shown["name"]
                taken.add(out[i])
    for i in order:
        if i in out:
            continue
        wanted = name = views[i].shown["name"]
        digits = 8
        while name in taken:
            suffix = f" ({i[:digits]})" if digits <= len(i) else f" ({i}, {digits - len(i) + 1})"
            name = wanted.encode()[:1024 - len(suffix)].decode(errors="ignore") + suffix
            digits += 1
        taken.add(name)
        out[i] = name
    return out


# --- settings and slots: the same sides, other functions of them -------------------------------------------

def write_register(item, content, device, count, new_id):
    """A setting (a number, smaller is stricter) or the slot table (a frozenset of slots)."""
    every = sides(item)
    depth = 1 + max([r.depth for r in every], default=0)
    r = Revision(new_id, depth, device, count, greatest(*[s.vector for s in every], ((device, count),)), LIVE,
                 STANDARD, (("content", content),))
    return Item(frozenset({r}))


def merge_register(a, b):
    every = sides_of(a.revisions | b.revisions)
    if "settings" in OLD and every and not isinstance(content_of(next(iter(every))), frozenset):
        every = [min(every, key=lambda r: (content_of(r), r.id))]
    return Item(frozenset(every))


def content_of(r):
    return dict(r.fields)["content"]


def setting(item):
    return min(content_of(r) for r in item.revisions)


class Slot(NamedTuple):
    id: str
    kind: int               # 1 passcode, 2 recovery, 3 key file
    device: str             # the entry of the change that made it
    count: int


def slots(item):
    """A slot stands when every side that knew of it has it.  If so none of kind 1 or 2 stood, those stand too
    that any side kept."""
    tables = [(r, content_of(r)) for r in item.revisions]
    every = frozenset(s for _, t in tables for s in t)
    standing = frozenset(s for s in every if all(s in t or not covers(r.vector, s) for r, t in tables))
    if not any(s.kind in (1, 2) for s in standing):
        standing |= frozenset(s for s in every if s.kind in (1, 2))
    return standing


# --- a device id that turns out not to be one's own ---------------------------------------------------------

def renumber(item, device, last, new_device, published=frozenset()):
    """The store's head of `device` is not the one last written: the file is an old copy.  Own revisions after
    `last` that the store does not hold (by id) become new_device's, in the vectors too."""
    def mine(entry_id, d, count):
        return d == device and count > last and entry_id not in published

    def vector(v):
        high = dict(v).get(device, 0)
        if high <= last:
            return v
        return greatest([(d, c) for d, c in v if d != device], [(device, last)] if last else [],
                        [(new_device, high - last)])

    def version(v):
        return v._replace(device=new_device, count=v.count - last) if mine(v.id, v.device, v.count) else v

    def revision(r):
        if not mine(r.id, r.device, r.count):
            return r
        fields = tuple((f, frozenset(map(version, c)) if isinstance(c, frozenset) else c) for f, c in r.fields)
        return replace(r, device=new_device, count=r.count - last, vector=vector(r.vector), fields=fields)
    return Item(frozenset(map(revision, item.revisions)), vector(item.purged))
