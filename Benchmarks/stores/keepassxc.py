# SPDX-License-Identifier: MIT
"""keepassxc-cli: one KDBX file, which each command derives the key of, opens and reads whole."""

import base64
import os
import uuid
from xml.sax.saxutils import escape

from ground import Timed, item, secret

HEAD = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<KeePassFile><Meta><Generator>bench</Generator></Meta><Root><Group><UUID>{}</UUID><Name>Root</Name>
"""
ENTRY = """<Entry><UUID>{}</UUID><String><Key>Title</Key><Value>{}</Value></String>\
<String><Key>Password</Key><Value ProtectInMemory="True">{}</Value></String></Entry>
"""


def identifier():
    return base64.b64encode(uuid.uuid4().bytes).decode()


def exported(items):
    """The store as KeePass's XML: a group for each hundred."""
    yield HEAD.format(identifier())
    for number in range(items):
        group, title = item(number).split("/")
        if number % 100 == 0:
            yield f"<Group><UUID>{identifier()}</UUID><Name>{group}</Name>\n"
        yield ENTRY.format(identifier(), title, escape(secret(number)))
        if number % 100 == 99 or number == items - 1:
            yield "</Group>\n"
    yield "</Group></Root></KeePassFile>\n"


class KeePassXC:
    name = "keepassxc-cli"

    def __init__(self, ground):
        self.ground, self.items, self.database = ground, 0, None
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        ground.figures.remarks.append("keepassxc-cli: has no agent, so every command is an unlock;"
                                      " unlock is db-info")
        passcode = "eleven quiet storehouses\n"
        self.passcode = ground.file("kdbx-passcode", passcode)
        self.twice = ground.file("kdbx-passcode-twice", passcode * 2)
        self.change = ground.file("kdbx-change", passcode + secret(5) + "\n")

    def grow(self, items):
        source = self.ground.here / "store.xml"
        with source.open("w") as file:
            file.writelines(exported(items))
        self.database = str(self.ground.here / f"store-{items}.kdbx")
        self.ground.output(self.ground.tool("feed"), self.twice, "keepassxc-cli", "import", "-q",
                           "-p", str(source), self.database)
        source.unlink()
        self.items = items

    def timed(self, given, *words, shows=b""):
        return Timed([self.ground.tool("feed"), given, "keepassxc-cli", *words], shows=shows)

    def get(self):
        middle = self.items // 2
        return self.timed(self.passcode, "show", "-q", "-s", "-a", "Password", self.database,
                          item(middle), shows=secret(middle).encode())

    def put(self):
        return self.timed(self.change, "edit", "-q", "-p", self.database, item(5))

    def list(self):
        return self.timed(self.passcode, "ls", "-q", "-R", "-f", self.database,
                          shows=item(self.items - 1).encode())

    def find(self):
        wanted = f"item-{self.items // 2:07d}"
        return self.timed(self.passcode, "search", "-q", self.database, wanted,
                          shows=wanted.encode())

    def unlocked(self):
        return self.timed(self.passcode, "db-info", "-q", self.database)

    def bytes_on_disk(self):
        return os.path.getsize(self.database)

    def agent(self):
        return None

    def close(self):
        """No process of it stays."""
