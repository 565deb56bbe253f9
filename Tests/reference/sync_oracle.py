# SPDX-License-Identifier: MIT
"""What must hold, against the record of what really followed what: the ancestors of each revision, as bits of a number."""
from typing import NamedTuple

import merge_model as M
import sync_vault as V
from sync_push import Pack, own_rounds
from sync_vault import IDLE, SLOTS

SETS_VALUE = ("new", "put", "code", "restore", "keep")
ENDS_VALUE = (*SETS_VALUE, "rm", "purge")
RIGHT = {                   # alarms, and what may have been the cause
    "twin": {"twin"}, "back": {"twin", "folder"}, "own head gone": {"folder", "removed"}, "own head back": {"folder", "twin"},
    "passcode wanted": {""}, "two owners": {""},
}


NONE = (M.Version(0, "", "", 0, None),)


class Failed(Exception):
    pass


def need(ok, text):
    if not ok:
        raise Failed(text)


class Fact(NamedTuple):
    item: str
    op: str
    bit: int
    before: int             # bits of all that it follows
    made: object = None     # the revision, as it was made


class Ledger:
    def __init__(self):
        self.facts, self.order = {}, []
        self.excused = 0        # bits of what was on a disk that is gone, and nowhere else
        self.left_out = set()   # purges that do away with nothing

    # --- the record
    def make(self, id, item_id, op, item):
        self.facts[id] = Fact(item_id, op, 1 << len(self.order), self.known(item))
        self.order.append(id)

    def note(self, item, id):
        made = next(r for r in item.revisions if r.id == id)
        self.facts[id] = self.facts[id]._replace(made=made)

    def register(self, vault, item_id, id):
        self.facts[id] = Fact(item_id, "register", 1 << len(self.order), 0)
        self.order.append(id)
        self.note(vault.items[item_id], id)

    def known(self, item):
        out = 0
        for r in M.sides(item):
            out |= self.facts[r.id].bit | self.facts[r.id].before
        return out

    def known_to(self, vault):
        out = 0
        for item in vault.items.values():
            out |= self.known(item)
        return out

    def ids(self, bits):
        return [id for n, id in enumerate(self.order) if bits >> n & 1]

    def destroyed(self, world, machine):
        """What was on this disk alone is gone, and nobody is to blame."""
        rest = 0
        for other in world.machines:
            if other is not machine:
                rest |= self.known_to(other.vault)
        self.excused |= self.known_to(machine.vault) & ~rest

    # --- at any time
    def alarms(self, found, causes):
        for kind, device in found:
            need(RIGHT.get(kind, set()) & {"", *causes}, f"an alarm that nothing gave rise to: {kind}")

    def check_local(self, vault):
        items = {i: item for i, item in vault.items.items() if not V.is_register(i)}
        views = {i: M.view(items[i]) for i in items}
        need(all("name" in v.shown for v in views.values() if v.kind != M.PURGED), "an item without a name")
        for i, v in views.items():
            rows = [r for r in items[i].revisions if r.kind == M.LIVE]
            need(v.kind != M.LIVE or M.has_row(rows, "value", M.pick(v.standing.get("value", NONE))), "a value that is nowhere")
            for row in items[i].revisions:
                need(V.long_value(row) in (None, *vault.values), "a row whose long value is not here")
        names = M.resolve_names(views)
        need(len(set(names.values())) == len(names), "one name twice")
        if SLOTS in vault.items:
            need(any(s.kind in (1, 2) for s in M.slots(vault.items[SLOTS])), "no slot of kind 1 or 2")

    # --- at the end
    def print_of(self, vault):
        """What must be alike everywhere."""
        items = {i: item for i, item in vault.items.items() if not V.is_register(i)}
        views = {i: M.view(items[i]) for i in items}
        names = M.resolve_names(views)
        return (sorted((i, M.essence(items[i]), v.kind, v.cls, sorted(v.shown.items(), key=str), v.conflicts,
                        names.get(i)) for i, v in views.items()),
                M.setting(vault.items[IDLE]), M.essence(vault.items[IDLE]),
                sorted(M.slots(vault.items[SLOTS])), vault.epoch, sorted(vault.removed))

    def check_all(self, vaults):
        need(all({SLOTS, IDLE} <= set(vault.items) for vault in vaults), "a machine has not got into the epoch")
        prints = [self.print_of(vault) for vault in vaults]
        for vault in vaults:
            self.check_local(vault)
        for n, part in enumerate(("items", "settings", "sides of settings", "slots", "epochs", "removed devices")):
            need(all(p[n] == prints[0][n] for p in prints), f"machines differ after full exchange: {part}")
        self.check_loss(vaults[0])
        for i, item in vaults[0].items.items():
            if not V.is_register(i):
                self.check_truth(item)

    def check_loss(self, vault):
        gone = ((1 << len(self.order)) - 1) & ~self.known_to(vault) & ~self.excused
        for id in self.ids(gone):
            made, fact = self.facts[id].made, self.facts[id]
            if fact.item != SLOTS and not (made.device in vault.removed and made.count > vault.removed[made.device]):
                raise Failed(f"a change is lost: {id} ({fact.op}) of {made.device}")

    def check_truth(self, item):
        facts, v = self.facts, M.view(item)
        known = self.ids(self.known(item))
        top = {id for id in known if not any(facts[id].bit & facts[x].before for x in known)}
        held = {r.id for r in M.sides(item)}
        need(not top - held, "a revision that nothing follows is lost")
        need(not held - top, "a revision stands beside one that followed it")
        live = any(facts[id].made.kind == M.LIVE for id in top)
        need(live == (v.kind == M.LIVE), "deleted against changed")
        purged = 0
        for id in known:
            purged |= facts[id].before if facts[id].op == "purge" and id not in self.left_out else 0
        need(not any(facts[r.id].bit & purged for r in item.revisions), "a purged revision is held")
        self.check_class(v, known)
        if live:
            self.check_values(v, known, top)

    def check_class(self, v, known):
        for p in known if v.cls == M.STANDARD else ():
            need(self.facts[p].made.cls != M.PROTECTED or any(
                self.facts[u].op == "unprotect" and self.facts[u].before & self.facts[p].bit for u in known),
                "protected became standard without an unprotect that follows")

    def check_values(self, v, known, top):
        facts = self.facts
        for field, versions in v.standing.items():
            for x in versions:
                kept = {y.id for y in dict(facts[x.id].made.fields).get(field, ())}
                for y in versions:
                    need(y.id in kept or not facts[x.id].before & facts[y.id].bit, "a conflict that nobody made: " + field)
        now = {x.id for x in v.standing["value"]}
        for r in known:
            if facts[r].op in SETS_VALUE and r not in now:
                need(any(facts[x].op in ENDS_VALUE and facts[x].before & facts[r].bit for x in known), "a value is lost")
        shown = M.pick(v.standing["value"]).id
        for r in top:
            if facts[r].made.kind == M.LIVE and facts[r].op in ("put", "new", "restore", "keep"):
                need(not facts[r].before & facts[shown].bit, "the value shown is older than a change of it")

    def check_named(self, world):
        """A head that is there names what is there, at any moment, wherever somebody was killed.  Not that of a removed
        device, whose files others delete while it may still be writing."""
        if not world.direct or world.lost:
            return
        removed = {device for machine in world.machines for device in machine.vault.removed}
        for path, file in world.hub.files.items():
            if path.startswith("heads/") and path[6:].isalnum() and path[6:] not in removed:
                names = [name for name, _ in file.content.chain] + [*file.clear.journals, file.clear.record]
                need(all(f"objects/{path[6:]}/{name}" in world.hub.files for name in names), "a head names what is not there")

    def check_store(self, world):
        """Nothing but what a head names is left of any device that is here, and nothing of who was removed."""
        if "folder" in world.causes:
            return                  # what was put back with a folder may be of no use
        copied = {was.former for machine in world.machines for was in machine.vault.was}
        for vault in [m.vault for m in world.machines if m.vault.device not in copied | world.restored]:
            needed = {name for name, _ in vault.chain} | {vault.header, vault.record.name, *vault.journals} | {
                name for names in vault.pieces.values() for name in names} | set(vault.condemned)
            needed |= set(vault.told.evidence.values()) if vault.told else set()
            needed |= {file.name for file in vault.pending.files} if vault.pending else set()
            for path, file in world.hub.files.items():
                if path == f"objects/{vault.device}/{file.name}":
                    need(file.name in needed | world.returned, f"an object of no use is left: {file.name}")

    def packs(self, world):
        """The packs of each machine that wrote all that stands under its name."""
        copied = {was.former for machine in world.machines for was in machine.vault.was}
        for vault in [m.vault for m in world.machines if m.vault.device not in copied | world.restored]:
            for path, file in world.hub.files.items():
                if path == f"objects/{vault.device}/{file.name}" and isinstance(file.content, Pack):
                    yield vault, file

    def check_rounds(self, world):
        """Nobody has in his packs what was purged when a round was begun: by somebody who was not put back since, but where
        it goes on, since all that he had is not here, as where it came from one who is lost, and but where who purged it or
        asked for that was taken out: then it is purged no more, or nobody goes on with it."""
        last = {m.vault.device: own_rounds(m.vault)[0] for m in world.machines}
        for vault, file in self.packs(world):
            followed = own_rounds(vault)[1]
            for epoch, device, number, purged in world.rounds:
                goes_on = last.get(device, 0) > followed.get(device, 0) and device != vault.device
                counts = device not in world.restored and device not in vault.removed
                if counts and file.name in dict(vault.chain) and not goes_on:
                    for id, rows, _ in file.content.records:
                        is_late = any(c > vault.removed.get(d, c) for d, c in purged.get(id, ()))
                        need(is_late or not any(M.covers(purged.get(id, ()), r) for r in rows), "purged, and sealed anew")

    def check_compact(self, world):
        """Once all have sealed anew no file of theirs has what its writer does not hold, and nothing is to be deleted."""
        if "folder" in world.causes:
            return                  # what was put back with a folder may be of no use
        for vault, file in self.packs(world):
            need((vault.told.round or vault.told.rounds) and not vault.told.condemned, "somebody has not sealed all anew")
            for id, rows, _ in file.content.records if file.name not in world.returned else ():
                need(rows <= vault.items[id].revisions, f"the store has what nobody holds: {file.name}")
