# SPDX-License-Identifier: MIT
"""Machines that change, sync, are killed, away, copied, restored and removed, and the store between them.

What really followed what is kept in a record beside them; sync_oracle.py holds the machines against it.
"""
import random

import merge_model as M
import sync_epoch as E
import sync_vault as V
from sync_oracle import Ledger
from sync_push import file_of
from sync_session import Session
from sync_store import Folder, Hub
from sync_vault import IDLE, SLOTS, Vault

POOL = ["a", "b", "c"]
STEPS = {
    "change": 52, "sync": 36, "carry": 12, "kill": 4, "prune": 5, "setting": 2, "slots": 3, "file": 3, "partition": 2,
    "rest": 2, "backup": 2, "restore": 1.5, "rekey": .8, "remove": .5, "join": 1, "lose": .7, "double": .7, "foreign": .5,
}


class Machine:
    def __init__(self, number, vault, folder, offset):
        self.number, self.vault, self.folder = number, vault, folder
        self.session = None         # a sync that is under way
        self.asleep = 0             # until this step
        self.merged_from = 0        # how often its file was merged into another one
        self.offset, self.now = offset, 0

    def clock(self):
        self.now += 1
        return self.offset + self.now


class World:
    def __init__(self, seed, machines=4, direct=None, clocks=True):
        self.rng, self.serial, self.step_number = random.Random(f"{seed}/world"), 0, 0
        self.most = machines
        self.direct = self.rng.random() < .4 if direct is None else direct
        self.clocks = clocks
        self.hub, self.machines, self.backups, self.links = Hub(), [], [], None
        self.ledger = Ledger()
        self.causes = set()         # of alarms that are right
        self.counts = {}            # how often what happened
        self.rounds = []            # of those that were begun the epoch, by whom, the number, and what was purged by then
        self.returned = set()       # objects that the store brought back
        self.lost = False           # whether the store lost something
        self.restored = set()       # devices that were put back: what they had begun to write nobody knows of
        self.begin()

    # --- randomness: what has an id has it from here, whatever else is drawn
    def fresh(self):
        self.serial += 1
        return f"{self.rng.getrandbits(40):010x}"

    def begin(self):
        vault = Vault("d" + self.fresh(), "key/" + self.fresh(), "e0", "vk0")
        machine = self.add(vault)
        session = self.session(machine)
        slots = frozenset(M.Slot(f"{kind}{self.fresh()}", kind, vault.device, 1) for kind in (1, 2))
        self.write(machine, SLOTS, slots, vault.tick)
        vault.slot_rows = {slot.id for slot in slots}
        self.write(machine, IDLE, 9, vault.tick)
        record = E.Record("e0", (), frozenset(), frozenset(), vault.device)
        vault.record = file_of(session, "epoch", E.Cut({}, {}, 1), record)
        for _ in range(self.rng.randint(2, self.most) - 1):
            for _ in session.run():
                pass
            self.settle()
            self.do_join(machine)

    def add(self, vault):
        offset = self.rng.randint(-10 ** 6, 10 ** 6)    # clocks wrong by years
        machine = Machine(len(self.machines), vault, Folder(self.hub, self.direct), offset if self.clocks else 0)
        self.machines.append(machine)
        return machine

    def session(self, machine, **more):
        session = Session(machine, self.rng, self.fresh, **more)
        session.presented, session.decide, session.made = self.presented, self.decide, self.ledger.register
        return session

    def presented(self, slots):
        """The slots whose secrets the owner has at hand for a new epoch: one of kind 1 or 2 at least."""
        some = {slot for slot in sorted(slots) if self.rng.random() < .7}
        return frozenset(some | {min(slot for slot in slots if slot.kind in (1, 2))})

    def decide(self, makers):
        return self.rng.choice(makers) if self.rng.random() < .5 or self.finishing else None

    finishing = False

    # --- steps
    def step(self):
        self.step_number += 1
        awake = [m for m in self.machines if m.asleep < self.step_number]
        if not awake:
            return
        machine = self.rng.choice(awake)
        what = self.rng.choices(list(STEPS), list(STEPS.values()))[0]
        self.counts[what] = self.counts.get(what, 0) + 1
        getattr(self, "do_" + what)(machine)
        if self.step_number % 4 == 0:
            self.ledger.check_named(self)

    def do_sync(self, m):
        """Begins a sync, or goes on with it; some are done in one go, some have others between their steps."""
        if m.session is None:
            if not self.reaches(m):
                return
            m.folder.stale = .3 if self.rng.random() < .2 else 0
            m.current = self.session(m, passcode=self.rng.random() < .4, compacts=self.rng.random() < .04)
            m.session = m.current.run()
        steps = self.rng.choice([2, 6, 20, 10 ** 6, 10 ** 6])
        for _ in range(steps):
            if next(m.session, "end") == "end":
                m.session = None
                self.rounds += [m.current.begun] if m.current.begun else []
                self.ledger.alarms(m.current.alarms(), self.causes)
                return
            m.session_steps = steps

    def do_kill(self, m):
        m.session = None

    def do_carry(self, m):
        if self.reaches(m):
            m.folder.carry(self.rng, self.rng.choice([.1, .5, 1]), .1)

    def reaches(self, m):
        return self.links is None or m.number in self.links

    def do_partition(self, m):
        self.links = None if self.links is not None else {
            x.number for x in self.machines if self.rng.random() < .5}

    def do_rest(self, m):
        """Away: for a while, or for a year."""
        m.session = None
        m.asleep = self.step_number + self.rng.choice([20, 60, 400])

    def do_prune(self, m):
        V.prune(m.vault)

    # --- changes
    def write(self, m, id, content, tick):
        new = self.fresh()
        item = m.vault.items.get(id, M.Item())
        self.ledger.make(new, id, "register", item)
        m.vault.items[id] = M.write_register(item, content, m.vault.device, tick(new), new)
        self.ledger.note(m.vault.items[id], new)

    def do_setting(self, m):
        self.write(m, IDLE, self.rng.randint(1, 20), m.vault.tick)

    def do_slots(self, m):
        """A new slot, another passcode (which is a new slot), or one less."""
        vault = m.vault
        if SLOTS not in vault.items:
            return
        now = M.slots(vault.items[SLOTS])
        gone = self.rng.choice(sorted(now))
        kind, more = self.rng.choice([(1, now), (2, now), (3, now), (gone.kind, now - {gone})])
        new = M.Slot(f"{kind}{self.fresh()}", kind, vault.device, vault.count + 1)
        then = self.rng.choice([more | {new}, now - {gone}])
        if any(slot.kind in (1, 2) for slot in then):
            vault.slot_rows |= {slot.id for slot in then if slot not in now}
            self.write(m, SLOTS, then, vault.tick)

    def do_change(self, m):
        vault, r = m.vault, self.rng
        items = {i: item for i, item in vault.items.items() if not V.is_register(i)}
        views = {i: M.view(items[i]) for i in items}
        live = [i for i in sorted(items) if views[i].kind != M.PURGED]
        name = r.choice(POOL)
        if live and r.random() < .1:
            i = r.choice(live)
            name = f"{views[i].shown['name']} ({i[:8]})"
        free = name not in M.resolve_names(views).values()
        new = self.fresh()
        if not live or (r.random() < .12 and free and len(live) < 4):
            i, op, item = f"{r.getrandbits(128):032x}", "new", M.Item()
        else:
            i = r.choice(live)
            item, op = items[i], r.choice(["put", "put", "code", "attr", "attr", "mv", "rm", "restore", "purge", "protect",
                                           "unprotect", "keep"])
            if "value" not in views[i].standing and op not in ("rm", "purge"):
                op = "put"              # nothing brings back what has no value
            if op == "purge" and r.random() < .6:
                op = "rm"
        value = new
        if r.random() < .2:
            value = "L" + new           # a long one, in files of its own
        self.ledger.make(new, i, op, item)
        after = self.changed(op, item, views.get(i), value, name if free else name + new, i, dict(
            device=vault.device, count=vault.tick(new), new_id=new))
        vault.items[i] = after
        vault.values |= {V.long_value(x) for x in after.revisions if x.id == new} - {None}
        self.ledger.note(after, new)

    def changed(self, op, item, view, value, name, i, at):
        r = self.rng
        if op == "new":
            return M.put(item, value, name, cls=r.choice([M.STANDARD, M.PROTECTED]), **at)
        if op == "put":
            return M.put(item, value, **at)
        if op == "code":
            old = view.shown["value"]
            return M.put(item, (old[0], old[1] + 1) if isinstance(old, tuple) else ("s" + i[:2], 1), **at)
        if op == "attr":
            return M.attr(item, r.choice("xy"), r.choice([None, "1", at["new_id"]]), **at)
        if op == "mv":
            return M.mv(item, name, **at)
        if op in ("restore", "keep"):
            return M.restore(item, r.choice(sorted({v.content for v in view.standing["value"]}, key=str)), **at)
        return getattr(M, op)(item, **at)

    # --- copies
    def do_file(self, m):
        """kura merge OTHER.kura, of a copy under the same vault key."""
        other = self.rng.choice(self.machines)
        if other is m or other.vault.epoch != m.vault.epoch or "stale" in (m.vault.mark, other.vault.mark):
            return
        other.merged_from += 1
        for i, item in other.vault.items.items():
            V.take_item(m.vault, i, item)
        m.vault.values |= other.vault.values
        m.vault.slot_rows |= other.vault.slot_rows
        complete = {**other.vault.complete, other.vault.device: other.vault.count}
        for device, count in complete.items():
            if device != m.vault.device:
                m.vault.complete[device] = max(count, m.vault.complete.get(device, 0))
        self.ledger.check_local(m.vault)

    def do_backup(self, m):
        """Not of a copy that has changes under an id that may not be its own: who puts that back twice is on his own."""
        if m.vault.mark == "stale":
            return
        self.backups.append((m, m.vault.copy(), m.merged_from, (dict(m.folder.files), dict(m.folder.base), set(m.folder.coming))))

    def do_restore(self, m):
        """An old copy takes the vault's place, or stands beside it; it is noticed by the seen file, or by the store alone."""
        if not self.backups:
            return
        m, old, merged, folder = self.rng.choice(self.backups)
        if m not in self.machines:
            return
        fresh = old.copy()
        noticed = self.rng.random() < .5 or merged != m.merged_from
        twice = self.rng.random() < .3 and len(self.machines) < self.most + 2
        if twice:
            other = self.add(fresh)
        else:
            self.ledger.destroyed(self, m)
            self.last_will(m)
            self.restored |= {m.vault.device, fresh.device}
            m.session, other = None, m
            m.vault = fresh
        self.backups = [b for b in self.backups if b[0] is not m]
        if not self.direct and (twice or self.rng.random() < .5):
            other.folder.files, other.folder.base, other.folder.coming = folder[0], folder[1], folder[2]
            self.causes.add("folder")
        if noticed:
            self.as_another(fresh)
        else:
            fresh.mark = m.vault.mark = "stale"
            self.causes.add("twin")

    def last_will(self, m):
        """A head that arrived names journal objects that did: else nobody could tell where a copy parted from this one."""
        for path, file in m.folder.files.items():
            if path.startswith(f"objects/{m.vault.device}/journal") and file.whole:
                self.hub.files.setdefault(path, file)

    def as_another(self, vault):
        """What a copy does that knows itself for one: another id, before anything is changed."""
        former = V.Peer(vault.key, vault.last or V.NOTHING, vault.last or V.NOTHING, frozenset(vault.heads))
        count, device = vault.count, vault.device
        import sync_session
        sync_session.take_id(self.session(Machine(0, vault, Folder(self.hub, True), 0)), "d" + self.fresh())
        vault.peers[device], vault.complete[device] = former, count
        vault.journal, vault.count = {}, 0

    # --- epochs
    def do_rekey(self, m, removed=None):
        vault = m.vault
        slots = E.own_slots(vault)
        if m.session is not None or not any(id[0] in "12" for id in slots):
            return
        session = self.session(m)
        removed = {**vault.removed, **(removed or {})}
        E.begin(session, (vault.epoch,), vault.record.clear.ancestors | {vault.epoch}, frozenset([vault.vault_key]),
                removed, slots)

    def do_remove(self, m):
        # Not one of whose changes some are known of and not here: that is for who knows that they will never come.
        peers = sorted(x for x, p in m.vault.peers.items() if x not in m.vault.removed and p.taken == p.heard != V.NOTHING)
        if len(self.machines) < 3 or not peers:
            return
        gone = self.rng.choice(peers)
        if any(x.vault.device == gone and x.vault.mark == "stale" for x in self.machines):
            return
        self.causes.add("removed")
        self.do_rekey(m, {gone: E.counted(m.vault, gone)})
        other = next((x for x in self.machines if x.vault.device == gone), None)
        if other is not None and self.rng.random() < .5:
            self.ledger.destroyed(self, other)
            self.machines.remove(other)

    def do_join(self, m):
        """A new machine, by passcode or recovery key alone."""
        if len(self.machines) >= self.most:
            return
        machine = self.add(None)
        machine.vault = Vault("d" + self.fresh(), "key/" + self.fresh(), "", "")
        machine.folder.carry(self.rng)
        if not E.enter_first(self.session(machine)):
            self.machines.remove(machine)

    def remove_ghosts(self):
        """What an owner does with devices whose machines are no more, when the others wait for heads that never come."""
        here = {m.vault.device for m in self.machines}
        m = max(self.machines, key=lambda m: (bool(E.own_slots(m.vault)), len(m.vault.peers)))
        ghosts = {x: E.counted(m.vault, x) for x in m.vault.peers if x not in here and x not in m.vault.removed}
        if ghosts:
            self.do_rekey(m, ghosts)
        return bool(ghosts)

    # --- the store
    def do_lose(self, m):
        """The store loses an object of a machine that is there to seal it anew."""
        mine = [path for path in sorted(self.hub.files) if path.startswith(f"objects/{m.vault.device}/")
                and "/journal" not in path]
        if not mine:
            return
        path, self.lost = self.rng.choice(mine), True
        for folder in [x.folder for x in self.machines]:
            folder.files.pop(path, None)
            folder.base.pop(path, None)
            folder.coming.discard(path)
        self.hub.files.pop(path, None)

    def do_double(self, m):
        if self.hub.gone:
            path = self.rng.choice(sorted(self.hub.gone))
            if path.startswith("objects/"):
                self.hub.files[path] = self.hub.gone[path]
                self.returned.add(self.hub.gone[path].name)

    def do_foreign(self, m):
        paths = sorted(self.hub.files)
        if paths:
            path = self.rng.choice(paths)
            self.hub.files[path + self.rng.choice([".tmp", "~", ".sync-conflict-20260101", " (1)"])] = self.hub.files[path]

    def settle(self):
        for machine in self.machines:
            machine.folder.carry(self.rng)
        for machine in self.machines:
            machine.folder.carry(self.rng)
