# SPDX-License-Identifier: MIT
"""Pushing: what is not in the store yet goes there in packs, then the head that names them; and what is of no use goes.

One's own packs have one's own changes, and those of others that came otherwise than by the store.  When they are sealed
anew they have of what they had that which is still held.  A push that is killed is never taken up again: what it wrote is
condemned by the next head.  Who wants nothing in the store but what stands in the vaults begins a round: each device seals
all anew that has taken what he had then.
"""
from typing import NamedTuple

import merge_model as M
import sync_head as H
import sync_vault as V
from sync_head import VAULT, Front, Head, Seen
from sync_pull import has_all
from sync_store import Blob, path_of
from sync_vault import NOTHING, At

RECORDS = 4                 # in a pack
PACKS = 6                   # before all are sealed anew
PIECES = 2                  # of a long value
BLOCK = 5                   # ids in a journal object


class Pack(NamedTuple):
    records: tuple          # (item id, rows, purged), ...
    where: dict             # long value -> (device, objects)


class Journal(NamedTuple):
    """What a device made, rows gone or not: for itself, sealed with a key of its own, so that a copy of it finds out where
    the two parted, under whatever epoch.  The last of it stands in the head, what is older in objects."""
    after: int              # the changes after this counter,
    upto: int               # up to this one
    ids: dict               # counter -> id


class Pending(NamedTuple):
    """What is noted before the first file of a push is written, and holds once the last one is there."""
    head: Blob
    files: tuple
    chain: tuple
    header: str
    header_slots: frozenset
    pieces: dict
    news: frozenset         # of others, that is in one's own packs then
    journals: tuple


def file_of(s, kind, content, clear=()):
    vault = s.vault
    key = vault.key if kind == "journal" else vault.vault_key
    return Blob(f"{kind}-{s.fresh()}", clear, key, (VAULT, kind, vault.device), content, vault.key)


def push(s):
    """Writes a head where there is something to say, step by step: each yield is a moment at which it may be killed."""
    vault = s.vault
    if s.held_back or not is_due(s):
        return
    draft = Draft(s)
    draft.build()
    yield
    files = [(path_of(vault.device, file.name), file) for file in vault.pending.files]
    files.insert(0 if "head first" in V.FAULTS else len(files), (f"heads/{vault.device}", vault.pending.head))
    for path, file in files:
        s.folder.put(path, file)
        yield
    arrived(vault)


def own_rounds(vault):
    """The own head with which a round was last begun, and of others the last rounds since which all was sealed anew."""
    if not vault.told or vault.told_epoch != vault.epoch:
        return 0, {}
    rounds = dict(vault.told.rounds)
    for was in vault.was - vault.told.was:      # what it says of another machine's heads
        V.cap(rounds, was.former, was.common.number)
    return vault.told.round, rounds


def rounds_of(s):
    """The rounds of those of whom all is here that they had when they began them."""
    return {device: head.round for device, head in s.heads.items() if head.round and "round" not in V.FAULTS and (
        has_all(s, device, head) or "round early" in V.FAULTS)}


def joins_round(s):
    own, rounds = own_rounds(s.vault)
    if "apart" in V.FAULTS:
        rounds = dict.fromkeys(rounds_of(s), max([own, *rounds.values()]))
    return s.vault.begins_round or any(number > rounds.get(x, 0) for x, number in rounds_of(s).items())


def is_due(s):
    vault = s.vault
    if joins_round(s) or vault.told is not None and vault.told.condemned and not vault.condemned:
        return True                     # others wait to hear that all is deleted
    if vault.rewrite or vault.last is None or vault.told_epoch != vault.epoch or s.renew or vault.was != vault.told.was \
            or lacking(s):
        return True
    if evidence(s) != vault.told.evidence:
        return True
    if vault.header_slots != standing_slots(vault):
        return True
    if any(V.is_news(vault, row) for item in vault.items.values() for row in item.revisions):
        return True
    return any(waits_for_answer(s, device, head) for device, head in s.heads.items() if device != vault.device)


def waits_for_answer(s, device, head):
    """Whether another one waits with deleting until this one says that it has taken its head."""
    taken = s.vault.peer(device).taken.number
    return any(number <= taken and not H.acknowledges(s.vault.told, device, number) for number in head.condemned.values())


def evidence(s):
    """Heads that were believed here and that the store has others for: what a device needs to see that it is two."""
    return {x: s.vault.peers[x].file.name for x in s.doubtful if s.vault.peers[x].file is not None}


def standing_slots(vault):
    if V.SLOTS not in vault.items:
        return frozenset()              # of an epoch of which little is here yet
    return frozenset(slot.id for slot in M.slots(vault.items[V.SLOTS])) & vault.slot_rows


def lacking(s):
    """Long values that stand here, and whose files others are about to delete, or have deleted."""
    if "pieces" in V.FAULTS:
        return set()
    going = {name for head in s.heads.values() for name in head.condemned} | s.missing
    gone = {value for value, (_, names) in s.vault.where.items() if value not in s.vault.pieces and going & set(names)}
    return gone and gone & {V.long_value(row) for id, item in s.vault.items.items() for row in V.standing(id, item)}


class Draft:
    """The files of one push, and what the vault notes of it."""

    def __init__(self, s):
        self.s, self.vault = s, s.vault
        self.number = 1 + (self.vault.heads[-1].number if self.vault.heads else 0)
        self.round, self.rounds = own_rounds(self.vault)
        if self.vault.begins_round:
            self.round = self.number    # and, for the trial, what is not to be found in any file of the round
            s.begun = self.vault.epoch, self.vault.device, self.number, {id: item.purged for id, item in self.vault.items.items()}
        self.files, self.chain, self.journals = [], list(self.vault.chain), self.vault.journals
        self.after = BLOCK * len(self.journals)
        self.condemned = dict(self.vault.condemned)
        self.pieces = dict(self.vault.pieces)
        self.lacking = lacking(s)

    def build(self):
        vault = self.vault
        vault.rewrite |= joins_round(self.s)
        if vault.rewrite or vault.last is None or vault.told_epoch != vault.epoch:
            self.rounds.update(rounds_of(self.s))
        old, new = self.chosen()
        if vault.rewrite:
            since = max([number for _, number in vault.chain], default=0)
            self.condemn(name for name, _ in vault.chain)
            self.chain = []
            self.pack(old, since)
        self.pack(new, self.number)
        while vault.count - self.after >= BLOCK:
            self.journals += (self.add("journal", self.journal(self.after + BLOCK)),)
            self.after += BLOCK
        header, rows = vault.header, standing_slots(vault)
        if vault.header_slots != rows:
            self.condemn([header] if header else [])
            header = self.add("header", (vault.vault_key, rows))
        self.drop_values()
        if vault.last is None or vault.told_epoch != vault.epoch:
            self.files.append(vault.record)
        self.files += [vault.peers[x].file for x in evidence(self.s)]
        if vault.told:
            self.condemn(vault.told.evidence.values())
        if vault.pending:           # a push that was killed
            self.condemn(file.name for file in vault.pending.files)
        used = {name for name, _ in self.chain} | {header, vault.record.name, *self.journals, *evidence(self.s).values()} | {
            name for names in self.pieces.values() for name in names}
        self.condemned = {name: number for name, number in self.condemned.items() if name not in used}
        self.commit(header, rows)

    def journal(self, upto):
        ids = {c: id for c, id in self.vault.journal.items() if self.after < c <= upto}
        return Journal(self.after, upto, ids)

    def chosen(self):
        """Records of what one's own packs have already, and of what they do not."""
        vault, old, new = self.vault, [], []
        for id, item in sorted(vault.items.items()):
            fresh = {r for r in item.revisions if V.is_news(vault, r) or V.long_value(r) in self.lacking}
            rest = {r for r in item.revisions - fresh if V.is_vouched(vault, r)}
            for rows, records in ((fresh, new), (rest, old)):
                if rows:
                    out = frozenset() if rows is rest else rest
                    if "standing" not in V.FAULTS:
                        rows = rows | V.standing(id, item) | V.unfollowed(id, item, out)
                    records.append((id, frozenset(rows), item.purged))
        return old, new

    def pack(self, records, number):
        for first in range(0, len(records), RECORDS):
            some = tuple(records[first:first + RECORDS])
            values = {V.long_value(r) for _, rows, _ in some for r in rows} - {None}
            where = {value: self.place(value) for value in sorted(values)}
            self.chain.append((self.add("pack", Pack(some, where)), number))

    def place(self, value):
        """Where a long value is to be had; it is written where nobody has it whom one can count on."""
        if value not in self.pieces:
            if value in self.vault.where and value not in self.lacking:
                return self.vault.where[value]
            self.pieces[value] = tuple(self.add("piece", (value, n)) for n in range(PIECES))
        return self.vault.device, self.pieces[value]

    def add(self, kind, content):
        self.files.append(file_of(self.s, kind, content))
        return self.files[-1].name

    def condemn(self, names):
        self.condemned.update((name, self.number) for name in names)

    def drop_values(self):
        held = {V.long_value(r) for item in self.vault.items.values() for r in item.revisions}
        for value in set(self.pieces) - held:
            self.condemn(self.pieces.pop(value))

    def covered(self):
        """What is in the store with this push: of others as far as all of it was taken here."""
        vault = self.vault
        covered = {**vault.covered, vault.device: vault.count}
        for item in vault.items.values():
            for row in item.revisions:
                upto = min(row.count, vault.complete.get(row.device, 0))
                if row.device != vault.device and upto > covered.get(row.device, 0):
                    covered[row.device] = upto
        return covered

    def commit(self, header, rows):
        """The transaction before the first file is written."""
        vault, s = self.vault, self.s
        front = Front(vault.device, self.number, vault.heads, vault.epoch, header, vault.record.name, self.journals,
                      file_of(s, "journal", self.journal(vault.count)), vault.key)
        seen = {x: Seen(p.heard, p.taken, p.key) for x, p in vault.peers.items() if x not in vault.removed}
        head = file_of(s, "head", Head(vault.count, tuple(self.chain), seen, self.covered(), dict(self.condemned), vault.was,
                                       evidence(s), s.clock(), self.round, self.rounds), front)
        news = frozenset((row.device, row.count) for item in vault.items.values() for row in item.revisions
                         if row.device != vault.device and V.is_news(vault, row))
        vault.condemned = self.condemned
        vault.heads += (At(self.number, head.name),)
        vault.counts[self.number] = vault.count
        vault.pending = Pending(head, tuple(self.files), tuple(self.chain), header, rows, self.pieces, news, self.journals)


def arrived(vault):
    """The transaction behind the last: the head is in the store."""
    pending = vault.pending
    front, vault.told = pending.head.clear, pending.head.content
    vault.last, vault.told_epoch = At(front.number, pending.head.name), front.epoch
    vault.pending, vault.journals = None, pending.journals
    if front.epoch != vault.epoch:
        return                      # the key was changed since: what it named is condemned already
    vault.begins_round &= vault.told.round != front.number
    vault.chain, vault.pieces = pending.chain, pending.pieces
    vault.header, vault.header_slots = pending.header, pending.header_slots
    vault.covered.update(vault.told.covered)
    vault.vouched |= pending.news
    for value in vault.pieces:
        vault.where.pop(value, None)
    if vault.rewrite:
        vault.base = len(vault.chain)
    vault.rewrite = len(vault.chain) > vault.base + PACKS


# --- Deleting ----------------------------------------------------------------------------------------------

def clean(s):
    """Deletes what one's own head condemns and everybody has acknowledged."""
    vault = s.vault
    if vault.last is None or vault.pending is not None or s.held_back:
        return
    others = [x for x in vault.peers if x not in vault.removed]
    for name, number in sorted(vault.condemned.items()):
        if "acknowledge" in V.FAULTS or number <= vault.last.number and all(
                x in s.heads and H.acknowledges(s.heads[x], vault.device, number) for x in others):
            s.folder.delete(path_of(vault.device, name))
            yield
            vault.condemned.pop(name, None)
