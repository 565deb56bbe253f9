#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""kura_store.py FOLDER PASSCODE-FILE   what a store has of a vault, by kura-sync-format(5) and a passcode alone.

A line each: `machine LABEL heads N`, and `item MACHINE NAME VALUE` of each value that stands in a pack of the machine (of a
long one its length and a digest, of a protected one `protected`), `purged MACHINE`, `setting MACHINE KEY VALUE`.  Every file
has to be one that the page knows, of the name that its bytes give it; ends with 12 where one is not.
"""
import hashlib
import sys
from pathlib import Path

import kura_remote as R
from kura_format import Damaged, Refused, unpad, unseal
from kura_record import Manifest, Meta
from kura_second import Trail, need, read_parts
from kura_slots import credential, unwrap


class Store:
    def __init__(self, folder, passcode):
        self.root = next(Path(folder).glob("kura-*"))
        self.vault = bytes.fromhex(self.root.name[5:])
        self.files = {str(path.relative_to(self.root.parent)): path.read_bytes()
                      for path in sorted(self.root.rglob("*")) if path.is_file()}
        self.passcode, self.known = passcode, set()

    def file(self, path):
        self.known.add(path)
        need(path in self.files, "missing: " + path)
        return self.files[path]

    def object(self, front, name, kind, device=None, epoch=None):
        data = self.file(R.object_path(self.vault, device or front.device, name))
        return R.object_body(data, name, kind, front.epoch if epoch is None else epoch)

    def heads(self):
        for path in self.files:
            if "/heads/" in path:
                front = R.read_front(self.file(path))
                need(path == R.head_path(self.vault, front.device) and front.vault == self.vault, "a head in another place")
                yield front

    def key(self, front):
        """The vault key, from the slots that the head names; it has to open the record of the epoch."""
        if front.header != bytes(32):
            header, slots = R.read_header_object(self.object(front, front.header, R.HEADER))
            need(header[8:24] == self.vault, "a header of another vault")
            self.found = unwrap([(n, *slot) for n, slot in enumerate(slots)], *credential(self.passcode, None, None),
                                self.vault)[0]
        epoch = R.read_epoch(self.object(front, front.record, R.RECORD))
        need(epoch.vault == self.vault, "a record of another vault")
        R.read_cut(self.opened(front.epoch, epoch.maker, R.RECORD, epoch.sealed))
        return self.found

    def opened(self, epoch, device, kind, sealed):
        return unpad(unseal(R.remote_key(self.found, self.vault), R.place(self.vault, device, epoch, kind), sealed))

    def show(self):
        fronts = sorted(self.heads(), key=lambda front: front.header == bytes(32))
        for front in fronts:
            self.key(front)
            inner = R.open_head(front, self.found)
            label = inner.label.decode()
            yield f"machine {label} heads {front.number}"
            for name in front.chains:
                R.read_block(self.object(front, name, R.CHAIN, epoch=bytes(16)))
            for name in front.journals:
                self.object(front, name, R.JOURNAL)
            for name, length, _ in inner.packs:
                need(len(self.file(R.object_path(self.vault, front.device, name))) == length, "length of a pack")
                yield from self.pack(label, front, self.object(front, name, R.PACK))
            more = [name for name, _ in inner.condemned] + [name for _, name in inner.evidence]
            self.known |= {R.object_path(self.vault, front.device, name) for name in more}
        rest = set(self.files) - self.known
        need(not rest, f"files that no head names: {sorted(rest)[:3]}")

    def pack(self, label, front, body):
        where, records = R.read_pack(self.opened(front.epoch, front.device, R.PACK, body))
        places = {value: (device, pieces) for value, device, pieces in where}
        for kind, id, purged, found in records:
            if kind == 1 and purged:
                yield f"purged {label}"
            for one in found:
                if kind == 1 and one.kind in (0, 2):
                    name, value = self.row(front, one, places)
                    yield f"item {label} {name} {value}"
                if kind == 2:
                    yield f"setting {label} {id} {one[1]}"

    def row(self, front, row, places):
        meta = (Trail if row.meta[0] == 2 else Meta).decode(row.meta)
        body, _ = read_parts(row.body, row.cls)
        name = meta.name.decode()
        if row.cls:
            return name, "protected"
        if body[0] == 0:
            need(len(body) - 1 == meta.size, "size")
            return name, body[1:].decode()
        need(body[0] == 1, "form")
        return name, self.long(front, Manifest.decode(body[1:]), places)

    def long(self, front, manifest, places):
        device, pieces = places[manifest.value_id]
        key, chunks, digest = R.remote_key(self.found, self.vault), 0, hashlib.sha256()
        for name, length in pieces:
            body = self.object(front, name, R.PIECE, device)
            need(len(body) + 32 == length, "length of a piece")
            place = R.piece_place(self.vault, device, front.epoch, manifest.value_id, chunks)
            for sealed in R.read_piece(unpad(unseal(key, place, body))):
                plain = unseal(manifest.value_key, manifest.chunk_ad(chunks), sealed)
                need(len(plain) == manifest.chunk_length(chunks), "length of a chunk")
                digest.update(plain)
                chunks += 1
        need(chunks == manifest.chunks, "chunks")
        return f"{manifest.length} {digest.hexdigest()}"


def main(folder, passcode):
    try:
        for line in sorted(Store(folder, passcode).show()):
            print(line)
    except (Damaged, Refused) as reason:
        print(f"kura_store: {reason}", file=sys.stderr)
        return 12
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).read_bytes()))
