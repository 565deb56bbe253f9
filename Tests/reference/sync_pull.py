# SPDX-License-Identifier: MIT
"""Pulling: the heads are read, each is judged, and of those that are believed the packs are taken that are new.

What does not fit is *named*: (kind, device).  What may come yet is `late`, and no alarm.
"""
import merge_model as M
import sync_head as H
import sync_vault as V
from sync_head import OVER, VAULT, Front
from sync_store import Unreadable, path_of
from sync_vault import At

LATE = "late"


def is_plain(name):
    """Whether a name below heads/ is a device's: what carriers add to names of their own is passed over."""
    return name.isalnum()


def read_heads(s):
    vault = s.vault
    paths = s.folder.list("heads/", s.rng)
    names = {path.split("/", 1)[1] for path in paths} | set(vault.peers) | {vault.device}
    order = sorted(name for name in names if is_plain(name) and name not in vault.removed)
    s.rng.shuffle(order)
    for name in order:
        look(s, name)
        yield


def look(s, name):
    """Reads one head, as far as it can be without what is sealed."""
    for table in (s.fronts, s.heads, s.strangers):
        table.pop(name, None)
    file = s.folder.get(f"heads/{name}")
    if file is None:
        return
    front, peer = file.clear, s.vault.peers.get(name, V.Peer())
    known = s.vault.key if name == s.vault.device else peer.key
    if not file.whole:
        s.name(LATE, name)
    elif not isinstance(front, Front) or file.place[0] != VAULT:
        s.name("another vault's", name)
    elif front.device != name and "swap" not in V.FAULTS:
        s.name("swapped", name)
    elif known and front.key != known and "signature" not in V.FAULTS:
        s.name("another key", name)
    elif file.signer != front.key and "signature" not in V.FAULTS:
        s.name("forged", name)
    else:
        if front.epoch == s.epoch:
            open_head(s, name, file)
        if name in s.heads or front.epoch != s.epoch and known:
            s.fronts[name] = file, front        # another epoch's is known by its key alone
        elif front.epoch != s.epoch:
            s.strangers[name] = file, front


def open_head(s, name, file):
    try:
        head = file.open(s.vault_key, (VAULT, "head", name))
    except Unreadable:
        s.name("forged", name)
        return
    s.heads[name] = head


# --- Taking ------------------------------------------------------------------------------------------------

def pull(s):
    """Takes what can be taken, as long as anything changes by it."""
    tried = set()
    while True:
        order = [x for x in s.heads if x != s.vault.device and (x, s.fronts[x][0].name) not in tried]
        s.rng.shuffle(order)
        for device in order:
            learn(s, s.heads[device].was)
        ready = [x for x in order if verdict(s, x) == H.OK]
        if not ready:
            break
        device = ready[0]
        tried.add((device, s.fronts[device][0].name))
        yield from take_head(s, device)
    for device in s.heads:
        if device != s.vault.device and (device, s.fronts[device][0].name) not in tried:
            found = verdict(s, device)
            if found in (H.TWIN, H.BACK) or s.vault.peer(device).heard.number > s.fronts[device][1].number:
                s.doubtful.add(device)
            s.name({H.WAIT: LATE, OVER: LATE}.get(found, found), device)
    for device in s.fronts.keys() - s.heads.keys() - {s.vault.device}:
        is_twin = H.parts(s.vault, s.fronts, device)
        if is_twin or s.vault.peer(device).heard.number > s.fronts[device][1].number:
            s.doubtful.add(device)      # whatever epoch it is in: who is two has to see that first
            s.name(H.TWIN if is_twin else LATE, device)
    for device, head in s.heads.items():
        if has_all(s, device, head):
            s.vault.complete[device] = max(s.vault.complete.get(device, 0), head.count)


def has_all(s, device, head):
    """Whether all that a device made up to its head is here: what it did not push itself, since others had, stands in
    packs of heads that it had taken, or of the epoch's maker."""
    vault = s.vault
    if device == vault.device or vault.peer(device).taken != At(s.fronts[device][1].number, s.fronts[device][0].name):
        return False
    leans = {other: seen.taken.number for other, seen in head.seen.items()}
    maker, cut = s.record.clear.maker, s.record.open(s.vault_key, s.record.place)
    leans[maker] = max(leans.get(maker, 0), cut.first)
    return "leans" in V.FAULTS or all(
        other in (device, vault.device) or vault.peers.get(other, V.Peer()).taken.number >= number
        for other, number in leans.items())


def verdict(s, device):
    if device in s.vault.removed or device in s.barred:
        return OVER
    return H.judge(s.vault, s.fronts, device, s.heads[device].seen)


def learn(s, news):
    """Devices that turned out to be two: what was taken of one under the other's id gets the right one."""
    vault = s.vault
    for was in sorted(news - vault.was, key=lambda w: w.device):
        peer = vault.peers.get(was.former)
        if peer is not None and (peer.heard in was.void or peer.taken in was.void):
            V.heal(vault, was)
        vault.was |= {was}


def take_head(s, device):
    """Takes one head's packs.  What one file is missing for is left, and the head counts as taken when nothing is."""
    vault = s.vault
    file, front = s.fronts[device]
    head = s.heads[device]
    if "believe" not in V.FAULTS:
        H.believe(vault, file, front, head)
    taken = vault.peer(device).taken
    vault.peer(device).key = vault.peer(device).key or front.key
    whole = True
    for name, number in head.chain:
        if number <= taken.number:
            continue
        pack = fetch(s, device, name, "pack")
        yield
        if pack is None:
            look(s, device)         # perhaps there is a later head, which names it no more
            if s.fronts.get(device, (None,))[0] is not file:
                return
            s.name(LATE, device)
            whole = "missing" in V.FAULTS and whole
            continue
        for record in pack.records:
            whole = (yield from take_record(s, pack, record)) and whole
    whole = (yield from take_header(s, device, front)) and whole
    if whole:
        peer = vault.peer(device)
        peer.taken = max(peer.taken, At(front.number, file.name))
        if front.epoch == vault.epoch:
            for other, count in [*head.covered.items(), (device, head.count)]:
                if other != vault.device:
                    vault.covered[other] = max(vault.covered.get(other, 0), count)


def fetch(s, device, name, kind, quiet=False):
    """An object's content, once its bytes are those that its name says."""
    file = s.folder.get(path_of(device, name))
    if file is None or not file.whole and "half" not in V.FAULTS:
        return None
    if file.name != name and "hash" not in V.FAULTS and "half" not in V.FAULTS:
        s.name("changed", device)
        return None
    try:
        return file.open(s.vault.key if kind == "journal" else s.vault_key, (VAULT, kind, device))
    except Unreadable:
        if not quiet:
            s.name("forged", device)
        return None


def take_record(s, pack, record):
    """Takes an item's rows, those with a long value once all of that is here; answers whether that was all."""
    vault = s.vault
    id, rows, purged = record
    left = set()
    rows = set(rows)
    barred = {row for row in rows if row.count > s.barred.get(row.device, row.count)}
    if barred:
        rows -= barred
        purged = M.greatest(*[V.purge_vector(row) for row in rows if row.kind == M.PURGED])
    if not rows:
        return True
    if id == V.SLOTS and s.epoch != vault.epoch:
        return True
    for row in sorted(rows, key=lambda r: (r.depth, r.id)):
        value = V.long_value(row)
        if value in vault.values and value not in vault.pieces:
            vault.where.setdefault(value, pack.where[value])
        if value is None or value in vault.values or not V.is_wanted(vault.items.get(id, M.Item()), row):
            continue
        device, names = pack.where[value]
        for name in names:
            got = fetch(s, device, name, "piece")
            yield
            if got is None:
                left.add(row)
                break
        else:
            vault.values.add(value)
            vault.where[value] = pack.where[value]
    if "pieces" in V.FAULTS:
        left = set()
    while "open" not in V.FAULTS and (more := leaning(vault.items.get(id, M.Item()), rows - left, left)):
        left |= more
    if rows - left:
        V.take_item(vault, id, M.Item(frozenset(rows) - left, purged))
    if left:
        s.name(LATE, device)
    return not left


def leaning(item, rows, left):
    """The rows that have a value which stands in none but those that are left: they wait with them."""
    def has(some, version):
        return M.has_row(some, "value", version)
    return {row for row in rows for version in dict(row.fields).get("value", ())
            if has(left, version) and not has(rows | item.revisions, version)}


def take_header(s, device, front):
    if front.epoch != s.vault.epoch or not front.header:
        return True
    found = fetch(s, device, front.header, "header")
    yield
    if found is None:
        s.name(LATE, device)
        return False
    s.vault.slot_rows |= found[1]
    return True
