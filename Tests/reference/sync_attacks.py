# SPDX-License-Identifier: MIT
"""The attacks of a store, each on the machines of sync_world.py: what it does, and what is named within one pull.

A store can keep, withhold, move, cut and change files, and put old ones back; it has no key.  In the last two it is helped by
a device that was removed.  Of none is anything taken, and once the store is honest again all machines are alike.
"""
from dataclasses import replace

import sync_epoch as E
import sync_pull as P
from sync_push import file_of
from sync_head import VAULT
from sync_store import Blob
from sync_vault import At
from sync_world import World

NOBODY = "f" * 10           # a device that there is not


class Stage:
    """Three machines, desk, phone and tower, and a store that keeps copies of itself."""

    def __init__(self, seed="attack"):
        self.world = World(seed, 3, direct=True, clocks=False)
        while len(self.world.machines) < 3:
            self.world.do_join(self.world.machines[0])
        self.desk, self.phone, self.tower = self.world.machines
        self.sync(self.desk, self.phone, self.tower)
        self.change(self.desk, self.phone, self.tower)
        self.sync(self.desk, self.phone, self.tower, self.desk)
        self.store = self.world.hub.files
        self.first = dict(self.store)

    def change(self, *machines):
        for machine in machines:
            for _ in range(3):
                self.world.do_change(machine)

    def sync(self, *machines, passcode=False):
        """What the last of the machines named."""
        for machine in machines:
            session = self.world.session(machine, passcode=passcode)
            for _ in session.run():
                pass
        return session.named

    def pull(self, machine):
        """What one sync names, and whether it took anything."""
        before = dict(machine.vault.items)
        return self.sync(machine), machine.vault.items != before

    def head(self, machine):
        return f"heads/{machine.vault.device}"

    def newest_pack(self, machine):
        head = self.store[self.head(machine)]
        return f"objects/{machine.vault.device}/{head.content.chain[-1][0]}"


# --- What the store does: each gets a stage on which phone has news, and gives what desk has to name ----------------

def head_put_back(stage):
    """An older head of another device, of which a later one was taken."""
    stage.sync(stage.desk)
    stage.store[stage.head(stage.phone)] = stage.first[stage.head(stage.phone)]
    return "back", stage.phone


def own_head_put_back(stage):
    """An older head of one's own; what phone has is withheld."""
    stage.change(stage.desk)
    stage.sync(stage.desk)
    stage.store[stage.head(stage.desk)] = stage.first[stage.head(stage.desk)]
    stage.store[stage.head(stage.phone)] = stage.first[stage.head(stage.phone)]
    return "own head back", stage.desk


def head_changed(stage):
    stage.store[stage.head(stage.phone)] = stage.store[stage.head(stage.phone)].changed()
    return "forged", stage.phone


def head_moved(stage):
    """The head of one device in the place of another's."""
    stage.store[stage.head(stage.phone)] = stage.store[stage.head(stage.tower)]
    return "swapped", stage.phone


def head_of_another_key(stage):
    """A head that somebody who has the vault key signs with a key of his own, as for a device that is lost."""
    file = stage.store[stage.head(stage.phone)]
    stage.store[stage.head(stage.phone)] = replace(file, name="mine", signer="key/mine", clear=file.clear._replace(
        key="key/mine", number=file.clear.number + 1, known=(*file.clear.known, At(file.clear.number, file.name))))
    return "another key", stage.phone


def object_changed(stage):
    path = stage.newest_pack(stage.phone)
    stage.store[path] = stage.store[path].changed()
    return "changed", stage.phone


def object_exchanged(stage):
    """Another pack under the name of the one that a head has."""
    stage.store[stage.newest_pack(stage.phone)] = stage.store[stage.newest_pack(stage.tower)]
    return "changed", stage.phone


def object_withheld(stage):
    del stage.store[stage.newest_pack(stage.phone)]
    return P.LATE, stage.phone


def head_withheld(stage):
    """A head that another one has seen: phone's is kept from desk, what tower made of it is not."""
    stage.sync(stage.tower)
    stage.change(stage.tower)
    stage.sync(stage.tower)
    stage.store[stage.head(stage.phone)] = stage.first[stage.head(stage.phone)]
    return P.LATE, stage.tower


def other_vault(stage):
    """A head of another vault, with the same device id."""
    file = stage.store[stage.head(stage.phone)]
    stage.store[stage.head(stage.phone)] = replace(file, name="other", place=("another vault", *file.place[1:]))
    return "another vault's", stage.phone


def false_epoch(stage):
    """An epoch that claims to follow the present one, of a removed device that has only the key before it."""
    vault = stage.tower.vault
    old = Blob("", (), vault.vault_key, (VAULT, "epoch", vault.device), E.Cut({}, {}, 1), vault.key)
    stage.world.do_rekey(stage.desk, {vault.device: vault.complete.get(vault.device, vault.count)})
    stage.sync(stage.desk)
    epoch = stage.desk.vault.epoch
    record = E.Record("e-mine", (epoch,), frozenset([epoch, "e0"]), frozenset([vault.vault_key]), vault.device)
    record = replace(old, name="record-mine", clear=record, key="vk-mine")
    head = stage.store[stage.head(stage.phone)]
    front = head.clear._replace(device=NOBODY, epoch="e-mine", record=record.name, key="key/mine", header="header-mine")
    stage.store[f"heads/{NOBODY}"] = replace(head, name="head-mine", clear=front, signer="key/mine", key="vk-mine")
    stage.store[f"objects/{NOBODY}/record-mine"] = record
    stage.withheld = {stage.head(stage.phone): stage.store.pop(stage.head(stage.phone))}
    return "false epoch", NOBODY


def back_before_the_key(stage):
    """The store as it was before the vault key was changed, and what a removed device wrote since."""
    stage.world.do_rekey(stage.desk, {stage.tower.vault.device: stage.tower.vault.count})
    stage.sync(stage.desk)
    stage.store.clear()
    stage.store.update(stage.first)
    stage.change(stage.tower)
    stage.sync(stage.tower)
    return "own head back", stage.desk


TEN = [head_put_back, own_head_put_back, head_changed, head_moved, head_of_another_key, object_changed, object_exchanged,
       object_withheld, head_withheld, other_vault]
HELPED = [false_epoch, back_before_the_key]
# Checks that are left out, and the attack that succeeds then.
FAULTS = {"half": object_changed, "hash": object_exchanged, "swap": head_moved, "signature": head_of_another_key,
          "proof": false_epoch, "back": head_put_back, "hearsay": head_withheld, "believe": head_withheld}


def outcome(attack):
    """(what has to be named, what desk named in one pull, whether it took anything, whether all were alike afterwards)"""
    stage = Stage()
    stage.change(stage.phone)
    stage.sync(stage.phone)
    honest = dict(stage.store)
    kind, who = attack(stage)
    who = who if isinstance(who, str) else who.vault.device
    named, took = stage.pull(stage.desk)
    return (kind, who), named, took, recovers(stage, honest)


def recovers(stage, honest):
    """Whether an honest store makes all machines alike again."""
    for path in [path for path in stage.store if path not in honest and NOBODY in path]:
        del stage.store[path]
    for path, file in honest.items():
        present = stage.store.get(path)
        if path.startswith("objects/") or present is None or present.name in ("mine", "other") or not present.signer \
                or present.clear.device != path[6:] or present.clear.number < file.clear.number:
            stage.store[path] = file
    for _ in range(6):
        for machine in stage.world.machines:
            stage.sync(machine, passcode=True)
    prints = [stage.world.ledger.print_of(machine.vault) for machine in stage.world.machines]
    return all(p == prints[0] for p in prints)
