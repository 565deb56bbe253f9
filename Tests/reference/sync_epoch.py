# SPDX-License-Identifier: MIT
"""Epochs: a vault key of its own each, and who does not get it.

A record names the epochs that it follows in clear, and proves that its maker had the keys of its parents.  What it removes and
the cut (how much of each device its maker had taken) are sealed under the new key.
"""
from typing import NamedTuple

import merge_model as M
import sync_vault as V
from sync_head import VAULT, Front
from sync_pull import is_plain, look, pull
from sync_push import own_rounds, standing_slots
from sync_store import Blob, path_of
from sync_vault import NOTHING


ALL = 1 << 63               # who makes an epoch has all of its own


class Record(NamedTuple):
    id: str
    parents: tuple
    ancestors: frozenset
    proofs: frozenset       # what only holders of the parents' keys could make: here, the keys themselves
    maker: str


class Cut(NamedTuple):
    removed: dict           # device -> counter: what it made later is not taken over
    taken: dict             # device -> (At, counter)
    first: int              # the number of its maker's first head in it


def make_record(s, vault, record, cut):
    return Blob(f"record-{s.fresh()}", record, vault.vault_key, (VAULT, "epoch", vault.device), cut, vault.key)


# --- Which epoch counts --------------------------------------------------------------------------------------

def records_of(s):
    """epoch -> its record, of all heads at hand and of one's own."""
    vault = s.vault
    found = {vault.epoch: vault.record}
    for device, (_, front) in sorted({**s.strangers, **s.fronts}.items()):
        if front.epoch in found or front.device in vault.removed:
            continue
        file = s.folder.get(path_of(device, front.record))
        if file is None or not file.whole or file.name != front.record or not isinstance(file.clear, Record):
            s.name("late", device)
            continue
        record = file.clear
        if record.id != front.epoch:
            s.name("forged", device)
        elif vault.epoch in record.parents and vault.vault_key not in record.proofs and "proof" not in V.FAULTS:
            s.name("false epoch", device)
        else:
            found[record.id] = file
    return found


def leading(records):
    """The epochs that none follows; of several that brought the same ones together the lowest id."""
    tips = sorted(e for e in records if not any(e in file.clear.ancestors for file in records.values()))
    out = []
    for tip in tips:
        parents = records[tip].clear.parents
        twins = [e for e in tips if len(parents) > 1 and records[e].clear.parents == parents]
        if tip == min(twins, default=tip):
            out.append(tip)
    return out


def follow(s):
    """Changes over to the epoch that counts, or makes one of several: with the passcode.  Without it nothing is pushed."""
    vault = s.vault
    records = records_of(s)
    tips = leading(records)
    if tips == [vault.epoch]:
        return
    s.held_back = True
    if not s.passcode:
        s.name("passcode wanted", vault.device)
        return
    if "last pull" not in V.FAULTS:
        yield from pull(s)              # a last time under the own key
    keys, rows = {}, set()
    for tip in tips:
        opened = (vault.vault_key, own_slots(vault)) if tip == vault.epoch else open_header(s, tip)
        yield
        if opened is None:
            s.name("late", vault.device)
            return
        keys[tip] = opened[0]
        rows |= opened[1]
    if not any(id[0] in "12" for id in rows):
        s.name("late", vault.device)
        return
    cuts = {tip: records[tip].open(keys[tip], records[tip].place) for tip in tips}
    if len(tips) == 1:
        change_over(s, records[tips[0]], keys[tips[0]], cuts[tips[0]], rows)
    else:
        removed = joined_removals(s, records, cuts)
        if removed is None:
            return
        if vault.device in removed:
            rejoin(s)
        drop_removed(vault, removed, {**joined_cut(cuts), **{records[tip].clear.maker: ALL for tip in tips}})
        for tip in tips:
            if tip != vault.epoch:
                s.barred = {x: count for x, count in removed.items() if x not in cuts[tip].removed}
                reread(s, records[tip], keys[tip])
                yield from pull(s)
        ancestors = frozenset(tips).union(*(records[tip].clear.ancestors for tip in tips))
        begin(s, tuple(tips), ancestors, frozenset(keys.values()), removed, rows)
    s.barred = {}
    s.held_back = False
    reread(s, vault.record, vault.vault_key)


def joined_removals(s, records, cuts):
    """The removed of all; where two remove each other's makers nobody but the owner can say which counts."""
    removed = {}
    for cut in cuts.values():
        for device, count in cut.removed.items():
            removed[device] = min(count, removed.get(device, count))
    makers = {records[tip].clear.maker: tip for tip in cuts}
    gone = sorted(maker for maker in makers if maker in removed)
    if len(gone) > 1:
        chosen = s.decide(gone)
        if chosen is None:
            s.name("two owners", s.vault.device)
            return None
        removed.pop(chosen)
    return removed


def counted(vault, device):
    """Up to which change a device counts that is removed: what was taken of it here, or is in the store by others."""
    return max(vault.complete.get(device, 0), vault.covered.get(device, 0))


def joined_cut(cuts):
    """What the makers of all had taken."""
    return dict(M.greatest(*[tuple((x, count) for x, (_, count) in cut.taken.items()) for cut in cuts.values()]))


def own_slots(vault):
    """The slots that stand and whose rows are here: of an epoch that was just entered those of its header object."""
    return standing_slots(vault) if V.SLOTS in vault.items else frozenset(vault.slot_rows)


def open_header(s, epoch):
    """(the vault key that the passcode gives, the slots), of any header object of an epoch."""
    for device, (_, front) in sorted({**s.strangers, **s.fronts}.items()):
        file = s.folder.get(path_of(device, front.header)) if front.epoch == epoch else None
        if file is not None and file.whole and file.name == front.header and file.content[1]:
            return file.content
    return None


def reread(s, record, vault_key):
    s.read_as(record, vault_key)
    s.heads = {}
    for device in [*s.fronts, *s.strangers]:
        look(s, device)


# --- The transactions ------------------------------------------------------------------------------------------

def begin(s, parents, ancestors, proofs, removed, rows):
    """A new epoch: a fresh key, the slots that were presented, and all that is here to be pushed under it."""
    vault = s.vault
    slots = {slot.id: slot for slot in M.slots(vault.items.get(V.SLOTS, M.Item()))}
    slots = frozenset(slots.get(id) or M.Slot(id, int(id[0]), vault.device, vault.count + 1) for id in rows)
    enter(s, "e" + s.fresh(), "vk" + s.fresh(), removed)
    vault.covered = {}
    taken = {x: (p.taken, vault.complete.get(x, 0)) for x, p in vault.peers.items()}
    cut = Cut(dict(removed), taken, 1 + (vault.heads[-1].number if vault.heads else 0))
    presented = s.presented(slots)
    id = s.fresh()
    vault.items[V.SLOTS] = M.write_register(M.Item(), presented, vault.device, vault.tick(id), id)
    s.made(vault, V.SLOTS, id)
    vault.slot_rows = {slot.id for slot in presented}
    vault.record = make_record(s, vault, Record(vault.epoch, parents, ancestors, proofs, vault.device), cut)


def change_over(s, file, vault_key, cut, rows):
    """Into an epoch that another one made: what the cut does not cover is pushed again."""
    vault = s.vault
    covered = {x: count for x, (_, count) in cut.taken.items()}
    if vault.device in cut.removed:
        rejoin(s)
    drop_removed(vault, cut.removed, {**covered, file.clear.maker: ALL})
    enter(s, file.clear.id, vault_key, cut.removed, cut.taken.get(vault.device, (NOTHING, 0))[0].number)
    vault.items.pop(V.SLOTS, None)
    vault.slot_rows = set(rows)
    vault.covered = covered
    vault.record = file


def rejoin(s):
    """A removed machine that the owner gave the passcode after all: another device, that answers for what it has."""
    import sync_session
    vault = s.vault
    vault.peers[vault.device] = V.Peer(vault.key, vault.last or NOTHING, vault.last or NOTHING, frozenset(vault.heads))
    vault.removed[vault.device] = vault.count       # what it has it answers for from here on
    sync_session.take_id(s, "d" + s.fresh())
    vault.journal, vault.count = {}, 0


def is_under_way(vault, removed=(), taken=None):
    """Whether somebody who is not removed has not sealed all anew since this device began a round: as far as it knows, and by
    what the maker of another epoch had taken of it."""
    number, _ = own_rounds(vault)
    files = [peer.file for x, peer in vault.peers.items() if x not in vault.removed and x not in removed]
    return number > 0 and "ended" not in V.FAULTS and (taken is not None and taken < number or any(
        file is None or file.clear.epoch != vault.epoch
        or file.open(vault.vault_key, file.place).rounds.get(vault.device, 0) < number for file in files))


def enter(s, epoch, vault_key, removed, taken=None):
    vault = s.vault
    number = 1 + (vault.heads[-1].number if vault.heads else 0)
    old = [name for name, _ in vault.chain] + [name for names in vault.pieces.values() for name in names]
    old += [vault.header] if vault.header else []
    old += [vault.record.name] if vault.told_epoch == vault.epoch else []
    old += [file.name for file in vault.pending.files] if vault.pending else []
    vault.condemned.update((name, number) for name in old)
    vault.chain, vault.pieces, vault.where, vault.header, vault.header_slots = (), {}, {}, "", frozenset()
    vault.begins_round |= is_under_way(vault, removed, taken)
    vault.vouched, vault.rewrite = frozenset(), False
    vault.epoch, vault.vault_key, vault.removed = epoch, vault_key, dict(removed)
    for device, count in removed.items():
        V.cap(vault.complete, device, count)


def drop_removed(vault, removed, cut):
    """Leaves out what removed devices made beyond the cut, but where something else would be lost with it.  Of a device
    that was removed before all stays: somebody has answered for it since."""
    if "drop" in V.FAULTS:
        return

    def is_late(device, count):
        return device in removed and device not in vault.removed and count > removed[device]
    for id, item in list(vault.items.items()):
        late = {r for r in item.revisions if is_late(r.device, r.count)}
        others = item.revisions - late
        # What another one has built on it has answered for, and it stays in the history of that.
        late = {r for r in late
                if r.kind == M.PURGED or not any(dict(o.vector).get(r.device, 0) >= r.count for o in others)}
        rest = item.revisions - late
        purged = M.greatest(*[V.purge_vector(r) for r in rest if r.kind == M.PURGED]) if any(
            r.kind == M.PURGED for r in late) else item.purged
        here = dict(M.greatest(*[r.vector for r in rest], purged))
        followed = [(d, c) for r in late for d, c in r.vector if not is_late(d, c) and c > here.get(d, 0)]
        if late and all(c <= cut.get(d, 0) for d, c in followed) and V.shows_all(id, M.Item(rest, purged)):
            vault.items[id] = M.Item(rest, purged)
            if not rest:
                del vault.items[id]
            for device, _ in followed:      # what was followed has to come again, from who has it
                V.cap(vault.complete, device, here.get(device, 0))


def enter_first(s):
    """Joins: with the passcode alone, into an epoch that counts."""
    vault = s.vault
    for name in sorted(path.split("/")[1] for path in s.folder.list("heads/", s.rng)):
        file = s.folder.get(f"heads/{name}")
        if is_plain(name) and file.whole and isinstance(file.clear, Front) and file.clear.device == name:
            s.fronts[name] = file, file.clear
    records = {}
    for device, (_, front) in s.fronts.items():
        file = s.folder.get(path_of(device, front.record))
        if file is not None and file.whole and file.name == front.record:
            records[file.clear.id] = file
    for tip in leading(records):
        opened = open_header(s, tip)
        if opened is not None:
            cut = records[tip].open(opened[0], records[tip].place)
            vault.epoch, vault.vault_key, vault.record, vault.removed = tip, opened[0], records[tip], dict(cut.removed)
            return True
    return False


# --- Removed devices' files ------------------------------------------------------------------------------------

def sweep(s):
    """The maker of an epoch deletes the files of who was removed, once all others are in it."""
    vault = s.vault
    others = [x for x in vault.peers if x not in vault.removed]
    if s.held_back or vault.record.clear.maker != vault.device or vault.told_epoch != vault.epoch or any(
            x not in s.heads for x in others):
        return
    for device in sorted(vault.removed):
        # The head first, by its name: a list may leave it out, and then it would name what is not there.
        paths = [f"heads/{device}"] if s.folder.get(f"heads/{device}") else []
        for path in paths + s.folder.list(f"objects/{device}/", s.rng):
            s.folder.delete(path)
            yield
