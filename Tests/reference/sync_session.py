# SPDX-License-Identifier: MIT
"""One `kura sync` of one machine: read the heads, see to one's own, follow the epoch, pull, push, delete.

It is a generator.  Each yield is a moment at which it may be killed; what it changes in the vault between two of them is one
transaction.
"""
import sync_epoch as E
import sync_vault as V
from sync_pull import LATE, fetch, learn, look, pull, read_heads
from sync_push import Journal, arrived, clean, own_rounds, push
from sync_store import path_of
from sync_vault import NOTHING, At


class Session:
    def __init__(self, machine, rng, fresh, passcode=False, compacts=False):
        self.vault, self.folder, self.rng, self.fresh = machine.vault, machine.folder, rng, fresh
        self.clock = machine.clock
        self.passcode = passcode        # whether the owner is there to give it
        self.fronts, self.heads, self.strangers = {}, {}, {}
        self.named = set()
        self.renew = self.held_back = False
        self.barred, self.missing, self.doubtful = {}, set(), set()
        self.begun = None
        self.vault.begins_round |= compacts     # he wants nothing in the store but what stands in the vaults
        self.read_as(self.vault.record, self.vault.vault_key)

    def name(self, kind, device):
        self.named.add((kind, device))

    def alarms(self):
        return {found for found in self.named if found[0] != LATE}

    def read_as(self, record, vault_key):
        self.record, self.vault_key = record, vault_key
        self.epoch = record.clear.id if record else self.vault.epoch

    def run(self):
        yield from read_heads(self)
        yield from see_to_own(self)     # before the key is another one
        yield from E.follow(self)
        for device in list(self.heads):
            learn(self, self.heads[device].was)
        yield from see_to_own(self)
        yield from pull(self)
        yield from push(self)
        yield from clean(self)
        yield from push(self)           # which says so
        yield from E.sweep(self)


# --- One's own head ------------------------------------------------------------------------------------------

def see_to_own(s):
    """The own head in the store is the last one that was written, or being written; else the store or this copy is old."""
    vault = s.vault
    file, front = s.fronts.get(vault.device, (None, None))
    at = At(front.number, file.name) if front else NOTHING
    pending = vault.pending and At(vault.pending.head.clear.number, vault.pending.head.name)
    if at != NOTHING and at == pending:
        arrived(vault)
    elif at == NOTHING and vault.last is not None:
        s.name("own head gone", vault.device)
        s.renew = True
    elif at != NOTHING and at != vault.last and at in vault.heads:
        s.name("own head back", vault.device)
        s.renew = True
    told = {head.seen[vault.device].heard for head in s.heads.values() if vault.device in head.seen} | {at}
    told -= {NOTHING, *vault.heads}
    if told and "twin" not in V.FAULTS:
        s.name("twin", vault.device)
        former = vault.device
        yield from turn(s, told)
        if not s.held_back:
            look(s, former)             # which is another one's from here on
            look(s, vault.device)       # another copy may have come to the same id
            yield from see_to_own(s)
            return
    if "renew" in V.FAULTS:
        s.renew = False
    yield from look_after(s)


def look_after(s):
    """What one's own head names has to be there: what was lost is sealed anew."""
    vault = s.vault
    if vault.last is None:
        return
    needed = [name for name, _ in vault.chain] + [*vault.journals, *filter(None, [vault.header])]
    needed += [name for names in vault.pieces.values() for name in names]
    if vault.told_epoch == vault.epoch and s.folder.get(f"objects/{vault.device}/{vault.record.name}") is None:
        s.folder.put(f"objects/{vault.device}/{vault.record.name}", vault.record)   # its bytes are here
    there = set(s.folder.list(f"objects/{vault.device}/", s.rng))
    for name in needed:
        path = f"objects/{vault.device}/{name}"
        file = None if path in there else s.folder.get(path)
        if path not in there and (file is None or file.name != name) and "lost" not in V.FAULTS:
            s.name(LATE, vault.device)
            for value in [v for v, names in vault.pieces.items() if name in names]:
                vault.condemned.update((n, vault.last.number + 1) for n in vault.pieces.pop(value))
            vault.rewrite = True
            if name in vault.journals:
                gone = vault.journals[vault.journals.index(name):]
                vault.condemned.update((n, vault.last.number + 1) for n in gone)
                vault.journals = vault.journals[:-len(gone)]
            if name == vault.header:
                vault.header_slots = frozenset()
        yield
    for device, names in list(vault.where.values()):
        s.missing |= {name for name in names if s.folder.get(f"objects/{device}/{name}") is None}
        yield


def foreign_heads(s, told):
    """Heads of this device that this machine did not write: the one in its place, and those that others keep."""
    vault = s.vault
    files = [s.fronts[vault.device][0]] if vault.device in s.fronts else []
    for device, head in s.heads.items():
        file = s.folder.get(path_of(device, head.evidence.get(vault.device, "")))
        if file is not None and file.whole and file.signer == vault.key:
            files.append(file)
    found = {At(file.clear.number, file.name): file.clear for file in files}
    return {at: front for at, front in found.items() if at not in vault.heads}


def turn(s, told):
    """Two machines had this id, and this one takes another: what it made beyond the fork gets that one's counters."""
    vault = s.vault
    fronts = foreign_heads(s, told)
    heads = {*fronts, *(at for front in fronts.values() for at in front.known)}
    journals = [front.own.open(vault.key, front.own.place) for front in fronts.values()]
    named = {name for front in fronts.values() for name in front.journals}
    whole = told <= heads
    for name in sorted(named - set(vault.journals)):
        journals.append(fetch(s, vault.device, name, "journal"))
        yield
    journals = [x for x in journals if isinstance(x, Journal)]
    if not whole or len(journals) < len(fronts) + len(named - set(vault.journals)):
        s.name(LATE, vault.device)
        s.held_back = True
        return
    ids = {c: id for journal in journals for c, id in journal.ids.items()}
    common = max([at for at in vault.heads if at in heads], default=NOTHING)
    fork = max([vault.counts.get(common.number, 0)] + [c for c, id in ids.items() if vault.journal.get(c) == id])
    if "fork point" in V.FAULTS:
        fork = vault.counts.get(common.number, 0)
    become_another(s, fork, common)


def become_another(s, fork, common):
    vault = s.vault
    former, heads, key = vault.device, vault.heads, vault.key
    beyond = min((c for c in vault.journal if c > fork), default=None)
    # Derived, so that several copies of one such line come to the same.
    device = f"{former}x{vault.journal[beyond]}" if beyond and "derived" not in V.FAULTS else "d" + s.fresh()
    was = V.Was(device, former, fork, common, frozenset(at for at in heads if at.number > common.number),
                max(vault.count, fork))
    begins_round = vault.begins_round or own_rounds(vault)[0] > common.number
    take_id(s, was.device, f"{key}/{device}")
    vault.begins_round = begins_round
    vault.journal = {c - fork: id for c, id in vault.journal.items() if c > fork}
    vault.count = max(0, vault.count - fork)
    known = frozenset(at for at in heads if at.number <= common.number)
    vault.peers[former] = V.Peer(key, common, common, known)
    V.heal(vault, was)
    vault.covered.pop(former, None)     # the other machine may be gone, and its head with it


def take_id(s, device, key=None):
    """Another id, that has written nothing yet."""
    vault = s.vault
    s.fronts.pop(vault.device, None)
    s.heads.pop(vault.device, None)
    vault.where.update((value, (vault.device, names)) for value, names in vault.pieces.items())
    vault.mark = ""
    vault.begins_round |= E.is_under_way(vault)
    vault.device, vault.key = device, key or "key/" + s.fresh()
    vault.heads, vault.counts, vault.chain, vault.journals, vault.condemned, vault.pieces = (), {}, (), (), {}, {}
    vault.last = vault.told = vault.pending = None
    vault.header, vault.header_slots = "", frozenset()
    vault.covered.pop(device, None)
