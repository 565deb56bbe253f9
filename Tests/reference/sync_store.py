# SPDX-License-Identifier: MIT
"""What keeps a remote, and what carries it: files that only their keys open, and folders that lag, lose and double.

A file is a `Blob`: anybody reads what is clear in it, the holder of `key` what is sealed, and nobody makes one that is
sealed under a key or signed by a device that he has not.  What the store can do is to keep, withhold, move and cut.
"""
from dataclasses import dataclass, field, replace

FAULTS = set()              # names of rules that are left out, to see that it is noticed


class Unreadable(Exception):
    """Why a file says nothing: its key, its place."""


@dataclass(frozen=True, eq=False)
class Blob:
    name: str               # the hash of its bytes
    clear: tuple            # what stands outside of the seal
    key: str                # the vault key that it is sealed under
    place: tuple            # its associated data: vault, kind, device
    content: object
    signer: str = ""        # the device's key that signed all of it
    whole: bool = True

    def half(self):
        """A part of it, as a carrier leaves it behind: what is missing of its content nobody sees by the rest."""
        content = self.content
        if hasattr(content, "records"):
            content = content._replace(records=content.records[:len(content.records) // 2])
        return replace(self, name="half of " + self.name, whole=False, content=content)

    def changed(self):
        """As the store changes a byte: neither seal nor signature nor hash are right then."""
        return replace(self, name="not " + self.name, key="", signer="")

    def open(self, key, place):
        if self.key != key:
            raise Unreadable("key")
        if self.place != place:
            raise Unreadable("place")
        return self.content


def path_of(device, name):
    return f"objects/{device}/{name}"


@dataclass
class Hub:
    """The store itself."""
    files: dict = field(default_factory=dict)
    gone: dict = field(default_factory=dict)        # what was deleted: a carrier may bring it back


class Folder:
    """What one machine sees: the store itself, or a folder that is carried to it now and then."""

    def __init__(self, hub, direct):
        self.hub, self.direct = hub, direct
        self.files = hub.files if direct else {}
        self.base = {}          # as it was when it was last carried
        self.coming = set()     # of which only a part is here
        self.stale = 0.0        # how much of a list is left out

    def get(self, path):
        return self.files.get(path)

    def put(self, path, blob):
        self.files[path] = blob
        self.coming.discard(path)

    def delete(self, path):
        blob = self.files.pop(path, None)
        self.coming.discard(path)
        if blob is not None and self.direct:
            self.hub.gone[path] = blob

    def list(self, prefix, rng):
        found = [path for path in sorted(self.files) if path.startswith(prefix)]
        return [path for path in found if rng.random() >= self.stale]

    def carry(self, rng, share=1.0, halves=0.0):
        """Some of what changed here goes to the store and some of what changed there comes: in any order, in parts."""
        if self.direct:
            return
        paths = sorted(set(self.files) | set(self.hub.files) | set(self.base))
        rng.shuffle(paths)
        for path in paths:
            if rng.random() < share:
                self.carry_one(path, rng, halves)

    def carry_one(self, path, rng, halves):
        here, there, base = self.files.get(path), self.hub.files.get(path), self.base.get(path)
        if path in self.coming:
            here = base
        if here is there:
            self.settle(path, here)
        elif here is base:
            if there is not None and rng.random() < halves:
                self.files[path] = there.half()
                self.coming.add(path)
            else:
                self.settle(path, there)
        elif there is base:
            self.send(path, here)
        elif here is None or (there is not None and rng.random() < .5):
            self.settle(path, there)            # both changed: one of them gets another name
            if here is not None:
                self.hub.files[f"{path}.sync-conflict-{rng.getrandbits(32):08x}"] = here
        else:
            self.send(path, here)
            if there is not None:
                self.hub.files[f"{path}.sync-conflict-{rng.getrandbits(32):08x}"] = there

    def settle(self, path, blob):
        self.coming.discard(path)
        self.base[path] = blob
        if blob is None:
            self.files.pop(path, None)
            self.base.pop(path, None)
        else:
            self.files[path] = blob

    def send(self, path, blob):
        self.settle(path, blob)
        if "carrier" in FAULTS and len(self.hub.files) % 7 == 0:
            return
        if blob is not None:
            self.hub.files[path] = blob
        elif path in self.hub.files:
            self.hub.gone[path] = self.hub.files.pop(path)
