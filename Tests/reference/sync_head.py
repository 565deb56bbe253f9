# SPDX-License-Identifier: MIT
"""Heads: what a device says of itself and of the others, and when a head is believed.

Whatever a store does, the heads of one device are one chain.  Two chains under one id mean two machines, as of a copied
disk.  What each of them made must not be brought together under that id: their changes have the same counters.  So a head
is taken only if all that it has seen is on the chains that are remembered here, and waits where that cannot be told yet.
"""
from typing import NamedTuple

import sync_vault as V
from sync_vault import NOTHING, At

VAULT = "vault"             # the vault id, in every place


class Front(NamedTuple):
    """What stands clear in a head, and is signed: whoever knows the device reads it, under whatever key the rest is."""
    device: str
    number: int
    known: tuple            # all its heads before: with fewer one could not tell two lines of one id apart
    epoch: str
    header: str             # the header object
    record: str             # the epoch's record
    journals: tuple         # its journal objects, all of them
    own: object             # what the device says to itself: its last changes, sealed as a journal object is
    key: str                # what the signature is checked with


class Seen(NamedTuple):
    """What a device says of another one."""
    heard: At               # its last head that it believes there was
    taken: At               # its last head that it took, all of it
    key: str                # what its heads are signed with


class Head(NamedTuple):
    """What is sealed in it."""
    count: int              # all its changes up to this one are in the store
    chain: tuple            # (pack, number of the head that it was new with), ...
    seen: dict              # device -> Seen
    covered: dict           # device -> counter: what is in the store under this epoch
    condemned: dict         # object -> number of the first head that said so
    was: frozenset
    evidence: dict          # device -> an object that is a head of it, which the store does not have in its place
    time: int               # by its own clock: shown, and never compared
    round: int = 0          # the own head with which it last began a round
    rounds: dict = {}       # device -> the last of its rounds since which all here was sealed anew


def chain_of(blob):
    """A head, and all that its device wrote before it."""
    return {*blob.clear.known, At(blob.clear.number, blob.name)}


OK, WAIT, TWIN, BACK, OVER = "ok", "wait", "twin", "back", "over"


def judge(vault, fronts, device, seen):
    """Whether the head of a device that is at hand, and has seen this, is to be taken."""
    blob, front = fronts[device]
    at, peer = At(front.number, blob.name), vault.peer(device)
    if is_void(vault, device, at):
        return OVER
    if at.number < peer.taken.number and "back" not in V.FAULTS:
        return BACK
    if at.number < peer.heard.number and "back" not in V.FAULTS:
        return WAIT
    if parts(vault, fronts, device) and "fork" not in V.FAULTS:
        return TWIN
    found = [judge_hearsay(vault, fronts, other, x.heard) for other, x in seen.items() if other not in vault.removed]
    if "hearsay" in V.FAULTS:
        found = []
    return TWIN if TWIN in found else WAIT if WAIT in found else OK


def parts(vault, fronts, device):
    """Whether the head of a device that is at hand is of another line than those that are remembered of it."""
    blob, peer = fronts[device][0], vault.peer(device)
    at = At(blob.clear.number, blob.name)
    return not is_void(vault, device, at) and any(
        x not in chain_of(blob) for x in {peer.taken, peer.heard} - {NOTHING} if x.number <= at.number)


def is_void(vault, device, at):
    return any(at in was.void for was in vault.was if was.former == device)


def judge_hearsay(vault, fronts, device, at):
    """Whether what a head has seen of a third device is on the chain that is remembered of that one."""
    peer = vault.peers.get(device, V.Peer())
    if at == NOTHING or at == peer.heard:
        return OK
    if device == vault.device:
        return OK if at in vault.heads else TWIN
    if is_void(vault, device, at):
        return WAIT                     # it has not heard yet that this one was another machine's
    if at.number == peer.heard.number:
        return TWIN
    chains = [chain_of(fronts[device][0])] if device in fronts else []
    for chain in [*chains, peer.chain]:
        last = max(chain, default=NOTHING)
        if is_void(vault, device, last):
            continue                    # another machine's, that has left its last head in this one's place
        if {peer.heard} - {NOTHING} <= chain and at.number <= last.number:
            return OK if at in chain else TWIN
    return OK if peer.heard == NOTHING else WAIT


def believe(vault, blob, front, head):
    """Remembers a head that is about to be taken, and what it has seen."""
    at = At(front.number, blob.name)
    for device, (heard, _, key) in [(front.device, Seen(at, at, front.key)), *head.seen.items()]:
        if device != vault.device and device not in vault.removed:
            peer = vault.peer(device)
            peer.heard, peer.key = max(peer.heard, heard), peer.key or key
    peer = vault.peer(front.device)
    peer.chain, peer.file = frozenset(chain_of(blob)), blob


def acknowledges(head, device, number):
    """Whether a device has taken all of another one's head of that number."""
    return device in head.seen and head.seen[device].taken.number >= number
