#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the sealed and packed exports in Fixtures/import, by the vendors' documented layouts and none of Kura's code.

make_exports DIRECTORY     writes them there; the same bytes each time

Bitwarden (bitwarden.com/help/encrypted-export, its KDF algorithms): a key out of password and salt by PBKDF2-SHA256, or
by Argon2id with the salt's SHA-256; HKDF-Expand makes of it one for "enc" and one for "mac"; each text is
"2.iv|AES-256-CBC|HMAC-SHA256". With attachments it is a zip archive, data.json and attachments/ID/FILE. 1Password (support.1password.com/1pux-format): a zip archive. Proton Pass: the same.
"""

import base64
import hashlib
import hmac
import io
import json
import os
import subprocess
import sys
import zipfile

PASSWORD = "export pass wörd"
HERE = os.path.dirname(os.path.realpath(__file__))
FIXTURES = os.path.join(HERE, "../../Fixtures/import")


def b64(data):
    """Writes bytes as the exports have them."""
    return base64.b64encode(data).decode()


def aes(key, first, plain):
    """Encrypts by AES-256-CBC, with the padding of PKCS #7."""
    command = ["openssl", "enc", "-aes-256-cbc", "-K", key.hex(), "-iv", first.hex()]
    return subprocess.run(command, input=plain, capture_output=True, check=True).stdout


def seal(key, plain, mark):
    """Makes the text that seals another one; the mark stands for chance."""
    encryption, authentication = (hmac.digest(key, use + b"\1", "sha256") for use in (b"enc", b"mac"))
    first = hashlib.sha256(mark).digest()[:16]
    sealed = aes(encryption, first, plain)
    return "2." + "|".join(b64(part) for part in (first, sealed, hmac.digest(authentication, first + sealed, "sha256")))


def bitwarden(plain, cost):
    """Makes a password-protected export of a plain one."""
    salt = b64(hashlib.sha256(b"salt").digest()[:16])
    if cost["kdfType"] == 0:
        key = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt.encode(), cost["kdfIterations"])
    else:
        from argon2.low_level import Type, hash_secret_raw

        key = hash_secret_raw(
            PASSWORD.encode(), hashlib.sha256(salt.encode()).digest(), cost["kdfIterations"], cost["kdfMemory"] * 1024,
            cost["kdfParallelism"], 32, Type.ID)
    return {
        "encrypted": True, "passwordProtected": True, "salt": salt, **cost,
        "encKeyValidation_DO_NOT_EDIT": seal(key, b"0f8fad5b-d9cb-469f-a165-70867728950e", b"validation"),
        "data": seal(key, plain, b"data"),
    }


def archive(files):
    """Packs files, at one moment."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files:
            packed.writestr(zipfile.ZipInfo(name, (2026, 11, 23, 12, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def bomb():
    """Packs many zeros: a thousand times what it takes."""
    return archive([("zeros", bytes(1 << 25))])


def field(title, kind, value, ident=""):
    """A field of a 1Password section."""
    return {"title": title, "id": ident or title.lower(), "value": {kind: value}, "indexAtSource": 0, "guarded": False,
            "multiline": False, "dontGenerate": False, "inputTraits": {"keyboard": "default", "correction": "default"}}


def item(title, category, details, **more):
    """An item of 1Password's."""
    overview = {"subtitle": "", "title": title, "url": "", "ps": 0, "pbe": 0.0, "pgrng": False, **more.pop("overview", {})}
    full = {"loginFields": [], "notesPlain": "", "sections": [], "passwordHistory": [], **details}
    return {"uuid": title, "favIndex": 0, "createdAt": 1735787045, "updatedAt": 1772368200, "state": "active",
            "categoryUuid": category, "details": full, "overview": overview, **more}


def one_password():
    """Makes a 1PUX export."""
    login = item(
        "Example", "001", {
            "loginFields": [
                {"value": "ada", "id": "", "name": "user", "fieldType": "T", "designation": "username"},
                {"value": 'op "quoted" 😀', "id": "", "name": "pass", "fieldType": "P", "designation": "password"},
                {"value": "blue", "id": "q1", "name": "question", "fieldType": "T"},
                {"value": "go", "id": "b", "name": "send", "fieldType": "I"}],
            "notesPlain": "the\nnotes",
            "sections": [{"title": "More", "name": "s", "fields": [
                field("branch", "string", "north"), field("PIN", "concealed", "1234"), field("code", "totp", "JBSWY3DPEHPK3PXP"),
                field("scan", "file", {"fileName": "scan.bin", "documentId": "doc1", "decryptedContentSize": 4}),
                field("lost", "file", {"fileName": "lost.bin", "documentId": "doc9", "decryptedContentSize": 4}),
                field("see", "reference", "other"), field("since", "date", 1735787045), field("until", "monthYear", 202612),
                field("mail", "email", {"email_address": "ada@example.org", "provider": None}),
                field("odd", "hologram", "x"), field("home", "address", {"street": "1 Way", "city": "Town", "country": "uk", "zip": "", "state": ""})]}],
            "passwordHistory": [{"value": "second", "time": 1770000000}, {"value": "first", "time": 1750000000}],
            "htmlMethod": "post"},
        favIndex=1, overview={"url": "https://example.org", "urls": [{"label": "", "url": "https://example.org"},
                              {"label": "", "url": "https://example.net"}], "tags": ["work", "shared"]})
    items = [
        login,
        item("Card", "002", {"sections": [{"title": "", "name": "", "fields": [
            field("number", "creditCardNumber", "4111111111111111", "ccnum"), field("type", "creditCardType", "visa", "type"),
            field("cvv", "concealed", "987", "cvv"), field("expiry", "monthYear", 202612, "expiry")]}]}),
        item("A note", "003", {"notesPlain": "only notes"}, state="archived"),
        item("Papers", "106", {"sections": [{"title": "", "name": "", "fields": [field("number", "string", "X123", "number")]}]}),
        item("Bare", "005", {"password": "bare one"}),
        item("Paper.pdf", "006", {"documentAttributes": {"fileName": "Paper.pdf", "documentId": "doc2", "decryptedContentSize": 5}}),
        item("Key", "114", {"sections": [{"title": "", "name": "", "fields": [field("private key", "sshKey", {
            "privateKey": "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n",
            "metadata": {"publicKey": "ssh-ed25519 AAAA", "fingerprint": "SHA256:x", "keyType": "ed25519"}}, "private_key")]}]}),
        item("Base", "102", {"sections": [{"title": "", "name": "", "fields": [
            field("username", "string", "root", "username"), field("password", "concealed", "db pw", "password")]}]}),
    ]
    data = {"accounts": [{"attrs": {"accountName": "Ada", "name": "Ada", "email": "ada@example.org", "uuid": "A"}, "vaults": [
        {"attrs": {"uuid": "v", "desc": "", "name": "Private", "type": "P"}, "items": items}]}]}
    attributes = {"version": 3, "description": "1Password Unencrypted Export", "createdAt": 1772368200}
    return archive([
        ("export.attributes", json.dumps(attributes)), ("export.data", json.dumps(data, ensure_ascii=False)),
        ("files/doc1__scan.bin", b"\0\1\2\xff"), ("files/doc2__Paper.pdf", b"%PDF\n")])


def read(name):
    """Reads a plain export."""
    with open(os.path.join(FIXTURES, name), "rb") as file:
        return file.read()


def main():
    """Writes each file."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    plain = read("bitwarden.json")
    made = {
        "bitwarden-pbkdf2.json": json.dumps(bitwarden(plain, {"kdfType": 0, "kdfIterations": 5000}), indent=2).encode(),
        "bitwarden-argon2.json": json.dumps(bitwarden(plain, {
            "kdfType": 1, "kdfIterations": 2, "kdfMemory": 16, "kdfParallelism": 4}), indent=2).encode(),
        "onepassword.1pux": one_password(),
        "bomb.zip": bomb(),
        "bitwarden.zip": archive([
            ("data.json", plain), ("attachments/i1/scan.bin", b"\0\1\2\xff"), ("attachments/i1/über mich.txt", "ü\n".encode()),
            ("attachments/i2/scan.bin", b""), ("attachments/i9/lost.txt", b"x")]),
        "proton.zip": archive([("Proton Pass/data.json", read("proton.json"))]),
    }
    for name, content in made.items():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(content)


main()
