# SPDX-License-Identifier: MIT
"""The vault of one machine as far as syncing goes: what stands in its file, and is changed in transactions.

Items, settings and slots are those of merge_model.py.  A value that begins with `L` is a long one: it stands in files of
its own, and a row that has it is taken once all of it is here.
"""
import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import merge_model as M
from sync_store import FAULTS

SLOTS, IDLE = "=slots", "=idle"


class At(NamedTuple):
    """A head of some device: its number, from 1, and the hash of its bytes."""
    number: int
    name: str


NOTHING = At(0, "")


class Was(NamedTuple):
    """A device that took another id, since two machines had the first."""
    device: str
    former: str
    fork: int               # the last counter that both have in common
    common: At              # the last head that both have in common
    void: frozenset         # the heads that it wrote under the former id beyond the fork
    last: int               # its last change under the former id; the fork where it made none beyond that

    @property
    def bound(self):
        """The change beyond which those under the former id are its own: none is where it made none."""
        return self.fork if self.last > self.fork else 1 << 63


@dataclass
class Peer:
    """What is remembered of another device."""
    key: str = ""
    taken: At = NOTHING     # its last head that was taken, all of it
    heard: At = NOTHING     # its last head that anybody spoke of who was believed
    chain: frozenset = frozenset()      # its last head that was believed, and all before it
    file: object = None     # its last head that was believed: for the device itself, should it be two


class Vault:
    def __init__(self, device, key, epoch, vault_key):
        self.device, self.key, self.count = device, key, 0
        self.items = {}         # id -> M.Item; settings and slots are items of their own
        self.journal = {}       # counter -> id of the own revision
        self.heads = ()         # the own heads, also those that were not seen to arrive
        self.counts = {}        # number of the own head -> the counter that it had
        self.epoch, self.vault_key = epoch, vault_key
        self.record = None      # the epoch's record, as a file
        self.removed = {}       # device -> the last counter that was taken of it
        self.peers = {}
        self.covered = {}       # device -> counter: up to it its changes are in the store, under this epoch
        self.complete = {}      # device -> counter: up to it all its changes were taken here
        self.vouched = frozenset()      # (device, counter) of what one's own packs have of others
        self.chain = ()         # (pack, number of the head that it was new with), ...: of the last head
        self.journals = ()      # the journal objects of the last head
        self.condemned = {}     # own object -> the number of the head that says so
        self.last = None        # At of the last head that arrived
        self.told = None        # what that head says
        self.told_epoch = ""    # the epoch that it was written in
        self.base = 0           # how many packs there were when all were sealed anew
        self.pending = None     # Pending: what is being written
        self.rewrite = False    # all of one's own has to be sealed anew
        self.begins_round = False   # the next head begins a round
        self.was = frozenset()
        self.values = set()     # the long values that are here
        self.pieces = {}        # long value -> one's own objects that have it
        self.where = {}         # long value -> (device, objects) as others said
        self.header = ""        # one's own header object
        self.header_slots = frozenset()
        self.slot_rows = set()  # the slots whose rows are here
        self.mark = ""          # of the trial, not of the vault: "stale", an old copy that nothing but the store shows

    def copy(self):
        other = copy.copy(self)
        for name in ("items", "journal", "counts", "removed", "covered", "complete", "condemned", "values",
                     "pieces", "where", "slot_rows"):
            setattr(other, name, copy.copy(getattr(self, name)))
        other.peers = {x: replace(p) for x, p in self.peers.items()}
        return other

    def tick(self, id):
        self.count += 1
        self.journal[self.count] = id
        return self.count

    def peer(self, device):
        return self.peers.setdefault(device, Peer())



# --- Rows --------------------------------------------------------------------------------------------------

def is_register(id):
    return id.startswith("=")


def long_value(row):
    """The long value that stands in a row."""
    versions = dict(row.fields).get("value")
    if not versions or row.kind == M.DELETED:
        return None
    content = M.row_content(row, versions).content
    return content if isinstance(content, str) and content.startswith("L") else None


def merged(id, here, there):
    return M.merge_register(here, there) if is_register(id) else M.merge(here, there)


def take_item(vault, id, item):
    vault.items[id] = merged(id, vault.items.get(id, M.Item()), item)


def standing(id, item):
    """The rows without which a copy would have something standing that it cannot show: they go with any other."""
    return item.revisions if is_register(id) else M.prune(item, 0).revisions


def unfollowed(id, item, out):
    """Rows that none of those follows which are in an earlier pack: once what follows them is there, nobody takes them."""
    return frozenset() if is_register(id) else frozenset(
        r for r in item.revisions - out if long_value(r) is None and not any(M.follows(o, r) for o in out))


def shows_all(id, item):
    """Whether every content that stands is in some row."""
    return is_register(id) or all(M.has_row(item.revisions, field, v) for field, versions in M.view(item).standing.items()
                                  for v in versions)


def purge_vector(r):
    return M.greatest([e for e in r.vector if e[0] != r.device], [(r.device, r.count - 1)] if r.count > 1 else [])


def is_wanted(item, row):
    """Whether a row of another copy would be taken."""
    return all(row.id != r.id and not M.follows(r, row) for r in item.revisions) and not M.is_purged(
        row, item.purged, item, item)


def is_covered(vault, row):
    return row.count <= vault.covered.get(row.device, 0)


def is_vouched(vault, row):
    return row.device == vault.device or (row.device, row.count) in vault.vouched


def is_news(vault, row):
    """Whether a row is neither in the store nor in one's own packs."""
    return not is_covered(vault, row) and (row.device, row.count) not in vault.vouched


def prune(vault, depth=2):
    for id, item in vault.items.items():
        if not is_register(id):
            vault.items[id] = M.prune(item, depth)
    held = {long_value(row) for item in vault.items.values() for row in item.revisions}
    vault.values &= held
    for value in set(vault.where) - held:
        del vault.where[value]


def cap(table, device, most):
    if device in table:
        table[device] = min(table[device], most)


# --- A device id that two machines had -----------------------------------------------------------------------

def renumbered(item, was):
    """The entries of the former id beyond the fork become those of the new one: in rows, stamps and vectors, also in
    what others made of them.  Nothing here came of the other machine's, since no head that spoke of it was taken, but by a file;
    where all is the other machine's, it is left as it is."""
    def entry(device, count):
        return (was.device, count - was.fork) if device == was.former and count > was.bound else (device, count)

    def vector(v):
        high = dict(v).get(was.former, 0)
        if high <= was.bound:
            return v
        rest = [(d, c) for d, c in v if d != was.former]
        return M.greatest(rest, [(was.former, was.fork)] if was.fork else [], [(was.device, high - was.fork)])

    def version(v):
        device, count = entry(v.device, v.count)
        return v._replace(device=device, count=count)

    def revision(r):
        device, count = entry(r.device, r.count)
        fields = tuple((f, frozenset(map(version, c)) if isinstance(c, frozenset) else c) for f, c in r.fields)
        return replace(r, device=device, count=count, vector=vector(r.vector), fields=fields)
    return M.Item(frozenset(map(revision, item.revisions)), vector(item.purged))


def heal(vault, was):
    """What was taken of a device that turned out to be another one gets that one's id, and is sealed anew."""
    vault.was |= {was}
    vault.items = {id: renumbered(item, was) for id, item in vault.items.items()}
    for table in (vault.covered, vault.complete):
        cap(table, was.former, was.fork)
    vault.vouched = frozenset((was.device, c - was.fork) if d == was.former and c > was.bound else (d, c)
                              for d, c in vault.vouched)
    peer = vault.peers.get(was.former)
    if peer is not None:
        peer.taken = min(peer.taken, was.common)
        peer.file = None
        peer.heard, peer.chain = was.common, frozenset(at for at in peer.chain if at.number <= was.common.number)
    if was.former in vault.removed:
        cap(vault.removed, was.former, was.fork)
    vault.rewrite = True
