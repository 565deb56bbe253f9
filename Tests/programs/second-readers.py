#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads with another library what kura imported, and compares, entry by entry.

second-readers keepass DATABASE PASSWORD FOLDER LINES    pykeepass reads the database
second-readers export FORMAT FILE FOLDER LINES           pass-import reads the export

LINES is what `kura export json-lines` wrote of FOLDER. Ends with status 1 at the first entry that only one of them has, or
that they have otherwise.
"""

import base64
import json
import re
import sys
from datetime import timezone


def content(value):
    """The bytes of a JSON value."""
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])


def kura(path):
    """What kura has, by name; the last revision on top, the values of those before it below."""
    items, begun = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            found = json.loads(line)
            found["value"] = (begun or b"") + content(found.get("value", ""))
            begun = found["value"] if found.get("more") else None
            if begun is not None:
                continue
            before = items.get(found["name"])
            found["before"] = before["before"] + [before["value"]] if before else []
            items[found["name"]] = found
    return items


def part(text):
    """A part of a name, as kura-import(1) has it under MAPPING."""
    text = re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text.replace("/", "-")).strip(" ")
    return text.encode()[:200].decode(errors="ignore")


def named(entries, folder):
    """Gives each entry the name that it has in the vault, but for a number behind it."""
    for entry in entries:
        host = re.sub(r"^[^:/?#]*://|[/?#].*$", "", entry["urls"][0]) if entry["urls"] else ""
        title = part(entry["title"]) or part(host) or part(entry["user"]) or "unnamed"
        entry["name"] = "/".join(each for each in [folder, *map(part, entry["folders"]), title] if each)
    users = {}
    for entry in entries:
        users.setdefault(entry["name"], set()).add(entry["user"])
    for entry in entries:
        if len(users[entry["name"]]) > 1 and entry["user"]:
            entry["name"] += "/" + part(entry["user"])
    return entries


def expected(entry):
    """What the item of an entry holds: its value, and its texts beside that."""
    value, notes, seed = entry["password"], entry["notes"], entry["otp"]
    if not value and notes:
        value, notes = notes, ""
    elif not value and seed:
        value, seed = seed, ""
    texts = [text for text in [entry["user"], *entry["urls"], notes, *entry["fields"]] if text]
    return value, sorted(texts), seed


def seed_of(text):
    """What codes are made of, and how; whatever stands around it."""
    found = re.search(r"[?&]secret=([^&]*)", text)
    rest = {key: re.search(rf"[?&]{key}=(\w+)", text) for key in ("period", "digits", "algorithm")}
    usual = {"period": "30", "digits": "6", "algorithm": "SHA1"}
    how = [rest[key][1].upper() if rest[key] else usual[key] for key in usual]
    return [(found[1] if found else text).replace(" ", "").upper(), *how]


def keyed(pairs):
    """Fields by the keys that they have in an item: one that is taken gets a number."""
    found = {}
    for key, text in pairs:
        key, number = part(key).replace("=", "-") or "field", 1
        wanted = key
        while wanted in found:
            number += 1
            wanted = f"{key}-{number}"
        found[wanted] = text
    return found


def misplaced(entry, item):
    """Says what of an entry has another key, or is listed and should not be, or the other way round; where the reader tells."""
    if "open" not in entry:
        return None
    shown = [*(("url", url) for url in entry["urls"]), ("user", entry["user"]), ("tags", ", ".join(entry["tags"])), *entry["open"]]
    # Without a password the notes are the value, and without these what makes codes.
    notes = entry["notes"] if entry["password"] else ""
    seed = entry["otp"] if entry["password"] or entry["notes"] else ""
    hidden = [("otp", seed), ("notes", notes), *entry["hidden"]]
    long = [pair for pair in shown if len(pair[1].encode()) > 1024]
    shown = [pair for pair in shown if pair[1] and pair not in long]
    every = keyed([*shown, *(pair for pair in [*hidden, *long] if pair[1])])
    listed = set(list(every)[: len(shown)])
    if listed != set(item.get("attributes", {})):
        return f"listed: {sorted(listed ^ set(item.get('attributes', {})))}"
    if set(every) - listed != set(item.get("secret-attributes", {})):
        return f"hidden: {sorted((set(every) - listed) ^ set(item.get('secret-attributes', {})))}"
    for key, text in every.items():
        there = item.get("attributes", {}).get(key) or item.get("secret-attributes", {}).get(key)
        if key != "otp" and content(there).decode() != text:
            return f"another text: {key}"
    return None


def difference(entry, item):
    """Says what of an entry is otherwise in the vault; nothing where nothing is."""
    value, texts, seed = expected(entry)
    attributes = dict(item.get("attributes", {}))
    secrets = {key: content(text).decode() for key, text in item.get("secret-attributes", {}).items()}
    # What makes no codes has another key.
    codes = secrets.pop("otp", "") or secrets.pop("otp-2", "")
    if seed and not codes and seed_of(item["value"].decode()) == seed_of(seed):
        seed = ""
    if seed_of(item["value"].decode(errors="replace")) != seed_of(value) and item["value"] != value.encode():
        return "value"
    if seed_of(codes) != seed_of(seed):
        return "codes"
    tags = attributes.pop("tags", "")
    if "files" not in entry:
        # pass-import reads neither.
        attributes.pop("expires", None)
        secrets.pop("OverrideURL", None)
    if "tags" in entry and tags != ", ".join(entry["tags"]):
        return "tags"
    if sorted([*attributes.values(), *secrets.values()]) != texts:
        return f"texts: {sorted([*attributes, *secrets])}"
    if misplaced(entry, item):
        return misplaced(entry, item)
    if entry.get("history") is not None and [text.encode() for text in entry["history"]] != item["before"]:
        return "history"
    for key in ("created", "modified"):
        if entry.get(key) and item[key][:19] != entry[key]:
            return key
    return None


def compare(entries, items, folder):
    """Compares all entries with all items."""
    left = {name: item for name, item in items.items() if "/attachments/" not in name}
    files = {name: item["value"] for name, item in items.items() if "/attachments/" in name}
    for entry in named(entries, folder):
        near = [name for name in left if re.sub(r" \(\d+\)$", "", name) == entry["name"] or name == entry["name"]]
        why = {name: difference(entry, left[name]) for name in near}
        same = [name for name in near if why[name] is None]
        if not same:
            sys.exit(f"{entry['name']}: {list(why.values()) or 'kura has none'}")
        for title, data in entry.get("files", []):
            if files.pop(f"{same[0]}/attachments/{part(title)}", None) != data:
                sys.exit(f"{entry['name']}: the file {title}")
        del left[same[0]]
    if left or files and "files" in entries[0]:
        sys.exit(f"kura alone has {sorted([*left, *files])}")


def time(moment):
    """A time as kura writes it, to the second."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def keepass(path, password):
    """The entries of a database, but for those in its bin."""
    from pykeepass import PyKeePass

    database = PyKeePass(path, password=password)
    entries = []
    bin_group = database.recyclebin_group
    for found in database.entries:
        folders, group = [], found.group
        thrown = False
        while group is not None and not group.is_root_group:
            thrown = thrown or group == bin_group
            folders.insert(0, group.name or "")
            group = group.parentgroup
        if thrown:
            continue
        fields = dict(found.custom_properties)
        urls = [found.url or ""] + [fields.pop(key) or "" for key in sorted(fields) if key.startswith("KP2A_URL")]
        seed = fields.pop("otp", None) or found.otp or ""
        if not seed and "TOTP Seed" in fields:
            period, digits = fields.pop("TOTP Settings", "30;6").split(";")[:2]
            seed = f"otpauth://totp/x?secret={fields.pop('TOTP Seed')}&period={period}&digits={digits}"
        hidden = [(key, text) for key, text in fields.items() if found.is_custom_property_protected(key)]
        listed = [pair for pair in fields.items() if pair not in hidden]
        override = found._element.findtext("OverrideURL") or ""
        expires = [("expires", time(found.expiry_time) + "Z")] if found.expires else []
        earlier = []
        for before in found.history:
            if before.password and before.password != (earlier or [None])[-1]:
                earlier.append(before.password)
        if earlier and earlier[-1] == found.password:
            earlier.pop()
        entries.append({
            "title": found.title or "", "user": found.username or "", "password": found.password or "",
            "urls": [url for url in urls if url], "notes": found.notes or "", "otp": seed, "folders": folders,
            "fields": [text for _, text in [*fields.items(), *expires, ("", override)] if text],
            "open": expires + listed, "hidden": [*hidden, ("OverrideURL", override)],
            "tags": found.tags or [], "history": earlier, "created": time(found.ctime), "modified": time(found.mtime),
            # Of KDBX 4 KeePassXC exports their names alone.
            "files": [(file.filename, file.data) for file in found.attachments if database.version < (4, 0)]})
    return entries


READERS = {
    "bitwarden-json": "BitwardenJSON", "chrome-csv": "ChromeCSV", "firefox-csv": "Firefox",
    "lastpass-csv": "LastpassCSV", "keepassxc-csv": "KeepassxcCSV", "keepass-xml": "KeepassXML",
}
# What is of use to that program alone, is told, or is compared elsewhere.
LEFT = {
    "fav", "Icon", "guid", "formActionOrigin", "timeLastUsed", "Created", "Last Modified", "timeCreated", "timePasswordChanged",
    "creationDate", "revisionDate", "fido2Credentials", "reprompt", "KPEX_PASSKEY_CREDENTIAL_ID",
    "KPEX_PASSKEY_PRIVATE_KEY_PEM", "",
}


def export(form, path):
    """The entries of an export."""
    from pass_import import managers

    reader = next(each for each in vars(managers).values() if getattr(each, "__name__", "") == READERS[form])
    with reader(path) as importer:
        importer.parse()
        found = importer.data
    entries = []
    for each in found:
        each = {key: each[key] for key in each if each[key] is not None and key not in LEFT}
        if each.pop("deletedDate", None) or "Recycle Bin" in each.get("group", ""):
            continue
        if form == "firefox-csv":
            # It takes the address for the title.
            each["url"] = each.pop("title")
        folders = [name for name in each.pop("group", "").split("/") if name]
        if form.startswith("keepass"):
            folders = folders[1:]
        if folders == ["Inner", "Group"]:
            # One group, with a slash in its name, which it does not keep apart.
            folders = ["Inner/Group"]
        urls = [each.pop(key) for key in ("url", "url2", "KP2A_URL_1") if key in each]
        entry = {
            "title": each.pop("title", ""), "user": each.pop("login", ""), "password": each.pop("password", ""),
            "notes": each.pop("comments", ""), "folders": folders, "urls": [url for url in urls if url and url != "http://sn"],
            "otp": next((each.pop(key) for key in ("otpauth", "totp", "TOTP", "otp") if each.get(key)), "")}
        for key in ("totp", "TOTP"):
            each.pop(key, None)
        if "passwordHistory" in each:
            entry["history"] = [before["password"] for before in reversed(each.pop("passwordHistory"))]
        key = each.pop("sshKey", {})
        entry["password"] = each.pop("number", "") or key.pop("privateKey", "") or entry["password"]
        if form == "bitwarden-json" and "username" in each:
            # Of an identity it is the user, and a field.
            entry["user"] = each["username"]
        entry["fields"] = [text for text in [*each.values(), *key.values()] if text]
        entries.append(entry)
    return entries


def main():
    """Reads, and compares."""
    if len(sys.argv) != 6 or sys.argv[1] not in ("keepass", "export"):
        sys.exit(__doc__)
    entries = (keepass if sys.argv[1] == "keepass" else export)(sys.argv[2], sys.argv[3])
    if not entries:
        sys.exit("nothing is read")
    compare(entries, kura(sys.argv[5]), sys.argv[4])


main()
