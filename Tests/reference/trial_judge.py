#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Judges what machines with real vaults came to, by the model: Tests/KuraVaultTests/SyncTrialTests.swift writes the record.

trial_judge.py FILE      a line each; texts are hexadecimal digits, `-` is nothing:

    change MACHINE ITEM OP ID DEPTH DEVICE:COUNT HELD [FIELD=TEXT]...   what was done, on what was held; at: the name under
                                                                        which it stood
    removed MACHINE                                                            whose later changes may be nowhere
    slot EPOCH made|ended SLOT                                                  a change of the slots under one key
    machine MACHINE                                                            what it has in the end, in the lines behind it
    item ITEM HELD                                                             ids of the revisions
    shown ITEM NAME KIND CLASS VALUE [KEY=TEXT]...
    conflict ITEM PART TEXT
    slots EPOCH SLOT,SLOT...                                                    those that stand
    setting KEY IN-FORCE REVISION=VALUE,...                                     the sides of one

The model makes each revision itself, of what was done and of the ids that were held then: no content, stamp or vector is
the engine's. A device is one life of one machine: where two machines have one id, or one was put back, it is told from
the other by the machine's number, so that what the engine brings together under that id is seen to be wrong. So what each machine shows is what the model makes of the ids that it holds, or the engine is wrong.
"""
import sys
from collections import Counter
from types import SimpleNamespace

import merge_model as M
from sync_oracle import Failed, Ledger, need
from sync_vault import purge_vector

# A deleted item whose name another one takes is deleted under that one's.
OPS = {"displaced": "rm"}
# The setting of which the larger value is the stricter one.
HISTORY_DEPTH = "4"


def text(word):
    return None if word == "-" else bytes.fromhex(word).decode()


class Record:
    def __init__(self, lines):
        self.ledger, self.made, self.maker = Ledger(), {}, {}
        self.removed, self.machines, self.slots, self.protects = set(), {}, {}, {}
        for line in lines:
            words = line.split()
            getattr(self, "read_" + words[0])(*words[1:])

    def held(self, ids):
        ids = [] if ids == "-" else ids.split(",")
        need(all(id in self.made for id in ids), "a revision that nobody made is held")
        held = frozenset(self.made[id] for id in ids)
        return M.Item(held, M.greatest(*[purge_vector(r) for r in held if r.kind == M.PURGED]))

    def read_change(self, machine, item, op, id, depth, entry, ids, *sets):
        before = self.held(ids)
        device, count = entry.split(":")
        fields = {key: text(word) for key, word in (s.split("=") for s in sets)}
        # A change of what stands under another name than its own makes that its own.
        place = fields.pop("at", None)
        if before.revisions and place is not None and M.view(before).shown.get("name", place) != place:
            fields.setdefault("name", place)
        at = dict(device=device, count=int(count), new_id=id)
        self.ledger.make(id, item, OPS.get(op, op), before)
        after = change(op, before, fields, at)
        made = next(r for r in after.revisions if r.id == id)
        need(made.depth == int(depth), f"the depth of a revision: {depth} and not {made.depth}")
        need(id not in self.made, "an id twice")
        self.made[id], self.maker[id] = made, machine
        if op == "protect":
            self.protects.setdefault(item, []).append(id)
        self.ledger.note(after, id)

    def read_removed(self, machine):
        self.removed.add(machine)

    def read_slot(self, epoch, word, slot):
        self.slots.setdefault((epoch, word), set()).add(slot)

    def read_slots(self, epoch, ids):
        self.now.slots = epoch, set(ids.split(","))

    def read_setting(self, key, in_force, sides):
        self.now.settings[key] = in_force, sides

    def read_machine(self, machine):
        self.now = SimpleNamespace(items={}, shown={}, conflicts={}, removed={}, values=(), settings={})
        self.machines[machine] = self.now

    def read_item(self, item, ids):
        self.now.items[item] = self.held(ids)

    def read_shown(self, item, name, kind, cls, value, *attributes):
        fields = {"attr:" + key: text(word) for key, word in (a.split("=") for a in attributes)}
        self.now.shown[item] = (text(name), kind, cls, text(value), fields)

    def read_conflict(self, item, part, word):
        self.now.conflicts.setdefault(item, []).append((part, text(word)))

    def is_opened_beside(self, item):
        """Whether an unprotect and some other change did not know of each other.  Who had sealed that as protected by then
        cannot open it without the owner, so there the item stays protected, also with what is put into it later."""
        facts = [self.ledger.facts[id] for id in self.ledger.ids(self.ledger.known(item))]
        return any(not a.before & u.bit and not u.before & a.bit
                   for u in facts if u.op == "unprotect" for a in facts if a is not u)

    def stays_protected(self, i, item):
        """Whether an item may stay as it is while its rows are sealed as protected: where somebody unprotected it beside that,
        and where who protected it was taken out, and that is left out."""
        known = self.ledger.known(item)
        return self.is_opened_beside(item) or any(
            not known & self.ledger.facts[id].bit and self.maker[id] in self.removed for id in self.protects.get(i, ()))

    def left_out_purges(self):
        """What a machine purged that was taken out before anybody else knew of it, also where others have built on it since."""
        held = {r.id for m in self.machines.values() for item in m.items.values() for r in item.revisions}
        return {id for id, fact in self.ledger.facts.items()
                if fact.op == "purge" and self.maker[id] in self.removed and id not in held}

    # --- the judgement
    def judge(self):
        need(len(self.machines) > 1, "no machines")
        prints = {n: {(i, M.essence(item)) for i, item in m.items.items()} for n, m in self.machines.items()}
        first, *others = prints
        for n in others:
            more = sorted(map(repr, prints[n] ^ prints[first]))
            need(not more, f"machines differ after full exchange: {n} and {first}, in {more[:2]}")
        self.ledger.left_out = self.left_out_purges()
        for machine in self.machines.values():
            self.check_shown(machine)
            for item in machine.items.values():
                self.ledger.check_truth(item)
        machine = next(iter(self.machines.values()))
        self.check_loss(machine)
        self.check_beside_items(machine)

    def check_beside_items(self, machine):
        """Slots and settings.  The passcode with which a key began is the one slot that nobody made."""
        for other in self.machines.values():
            need(other.slots == machine.slots, "slots differ")
            need(other.settings == machine.settings, f"settings differ: {other.settings} and {machine.settings}")
        epoch, standing = machine.slots
        made, ended = (self.slots.get((epoch, word), set()) for word in ("made", "ended"))
        need(made - ended <= standing, f"a slot is lost: {made - ended - standing}")
        need(not ended & standing, f"a slot came back: {ended & standing}")
        need(len((standing | ended) - made) == 1, "a slot that nobody made")
        for key, (in_force, sides) in machine.settings.items():
            values = [int(side.split("=")[1]) for side in sides.split(",")]
            right = max(values) if key == HISTORY_DEPTH else min(values)
            need(int(in_force) == right, f"setting {key}: {in_force} of {values}")

    def check_loss(self, machine):
        ledger = self.ledger
        gone = ((1 << len(ledger.order)) - 1) & ~ledger.known_to(machine)
        lost = [id for id in ledger.ids(gone) if self.maker[id] not in self.removed]
        need(not lost, f"a change is lost: {len(lost)}, {[ledger.facts[id].op for id in lost][:5]}")

    def check_shown(self, machine):
        views = {i: M.view(item) for i, item in machine.items.items()}
        for i, v in views.items():
            if i in machine.shown and machine.shown[i][2] == M.PROTECTED and self.stays_protected(i, machine.items[i]):
                views[i] = v._replace(cls=M.PROTECTED)
        names = M.resolve_names(views)
        for i, v in views.items():
            if v.kind == M.PURGED:
                need(i not in machine.shown, "something purged is shown")
                continue
            need(i in machine.shown, "an item is not shown")
            name, kind, cls, value, attributes = machine.shown[i]
            # Who was displaced takes a name that a change here left free only with the next merge that has news of it.
            need(name == names[i] or name.startswith(v.shown["name"] + " ("), f"a name: {name!r} and not {names[i]!r}")
            need((kind, cls) == (v.kind, v.cls), f"kind and class: {kind, cls} and not {v.kind, v.cls}")
            need(kind != M.LIVE or value == v.shown.get("value"), f"a value: {str(value)[:40]} and not {str(v.shown.get('value'))[:40]}")
            rest = {f: c for f, c in v.shown.items() if f.startswith("attr:") and c is not None}
            need(attributes == rest, f"attributes: {attributes} and not {rest}")
            found = machine.conflicts.get(i, [])
            if cls == M.PROTECTED:      # what is sealed nobody compares: the same value from two machines is listed
                found = [c for n, c in enumerate(found) if c[0] != "value" or c[1] != value and c not in found[:n]]
            need_alike("conflicts", found, conflicts(v, name))
        shown = [name for name, *_ in machine.shown.values()]
        need(len(set(shown)) == len(shown), "one name twice")
        need(set(machine.shown) <= set(views), "something is shown that is not held")


def need_alike(what, found, right):
    """Of long lists only what is too much and what is missing."""
    more, less = Counter(found), Counter(right)
    need(more == less, f"{what}: {short(more - less)} and not {short(less - more)}")


def short(counter):
    return [tuple(str(word)[:40] for word in one) for one in counter.elements()]


def change(op, item, fields, at):
    if op in ("new", "put", "attr", "mv"):
        return M.change(item, sets=fields, **at)
    if op in ("restore", "keep"):
        return M.change(item, sets=fields, settle=True, **at)
    if op == "displaced":
        return M.change(item, kind=M.DELETED, sets=fields, **at)
    if op in ("rm", "protect", "unprotect"):
        kind, cls = {"rm": (M.DELETED, None), "protect": (M.LIVE, M.PROTECTED), "unprotect": (M.LIVE, M.STANDARD)}[op]
        return M.change(item, kind=kind, cls=cls, sets=fields, **at)
    return M.purge(item, **at)


def conflicts(v, placed):
    """As `kura conflicts` lists them: each once."""
    if v.kind != M.LIVE:
        return []
    out = []
    for field, content in v.conflicts:
        if field == "kind":
            out.append(("deletion" if content == M.DELETED else "purge", None))
        elif field.startswith("attr:"):
            out.append(("attribute", field[5:]))
        else:
            out.append((field, content))
    if placed != v.shown["name"]:
        out.append(("place", v.shown["name"]))
    return out


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    try:
        record = Record(lines)
        record.judge()
    except Failed as e:
        print(e)
        raise SystemExit(1)
    machine = next(iter(record.machines.values()))
    print(f"{len(record.made)} changes, {len(record.machines)} machines, {len(machine.items)} items, "
          f"{sum(map(len, machine.conflicts.values()))} conflicts")


if __name__ == "__main__":
    main()
