# SPDX-License-Identifier: MIT
"""secret-tool and gnome-keyring-daemon, on a D-Bus session of their own."""

import hashlib
import os
import shutil
import struct
import subprocess
import time

from ground import Failed, Skipped, Timed, item, secret

PASSCODE = b"eleven quiet storehouses"
ROUNDS = 2000
SCHEMA = b"org.freedesktop.Secret.Generic"
# `secret-tool lock` of Debian 12 dies by a segmentation fault.
LOCK = ("dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets"
        " org.freedesktop.Secret.Service.Lock"
        " array:objpath:/org/freedesktop/secrets/collection/login >/dev/null")
# No service directories: nothing is started by a call. Limits of Debian's session.conf.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={}</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy>
<limit name="max_replies_per_connection">50000</limit>
<limit name="max_incoming_bytes">1000000000</limit>
<limit name="max_outgoing_bytes">1000000000</limit></busconfig>
"""


def number(value):
    return struct.pack(">I", value)


def text(value):
    return number(len(value)) + value


def attributes(pairs, form):
    return number(len(pairs)) + b"".join(
        text(key) + number(0) + text(form(value)) for key, value in pairs)


def hashed(value):
    return hashlib.md5(value).hexdigest().encode()


def keyring_file(items):
    """A keyring as the daemon writes it (binary, 0.0), which it does anew for each item."""
    now, salt = struct.pack(">Q", int(time.time())), os.urandom(8)
    head = (b"GnomeKeyring\n\r\0\n" + bytes(4) + text(b"login") + now + now + bytes(8)
            + number(ROUNDS) + salt + bytes(16) + number(items))
    clear, sealed = [], []
    for index in range(items):
        name = item(index).encode()
        pairs = [(b"name", name), (b"xdg:schema", SCHEMA)]
        clear.append(number(index + 1) + number(0) + attributes(pairs, hashed))
        sealed.append(text(name) + text(secret(index).encode()) + now + now + number(0xFFFFFFFF)
                      + bytes(16) + attributes(pairs, lambda value: value) + number(0))
    body = b"".join(sealed)
    body += bytes(-(16 + len(body)) % 16)
    digest = hashlib.sha256(PASSCODE + salt).digest()
    for _ in range(ROUNDS - 1):
        digest = hashlib.sha256(digest).digest()
    body = subprocess.run(
        ["openssl", "enc", "-aes-128-cbc", "-nopad", "-K", digest[:16].hex(), "-iv",
         digest[16:].hex()],
        input=hashlib.md5(body).digest() + body, stdout=subprocess.PIPE, check=True).stdout
    return head + b"".join(clear) + number(len(body)) + body


class Keyring:
    name = "secret-tool"

    def __init__(self, ground):
        self.ground, self.items, self.daemon, self.control = ground, 0, None, None
        self.size = 0
        self.passcode = ground.file("keyring-passcode", PASSCODE)
        self.value = ground.file("keyring-value", secret(5))
        socket = ground.here / "bus"
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={socket}"
        ground.figures.remarks += [
            "secret-tool: find asks for a whole attribute: there is no search for a part of one;"
            " list fetches every secret, too",
            "secret-tool: unlock is the passcode over the daemon's control socket, no prompt"]
        ground.start("dbus-daemon", "--nofork", "--nosyslog", "--config-file",
                     ground.file("bus.conf", BUS.format(socket)))
        ground.await_("dbus-daemon", socket.exists)
        self.relock = ground.script("relock-keyring", LOCK)

    def grow(self, items):
        if items > 10000:
            raise Skipped("its daemon searches items one by one; 10,000 is as far as it goes here")
        if self.daemon:
            self.ground.end(self.daemon)
        place = self.ground.here / "keyring"
        shutil.rmtree(place, ignore_errors=True)
        keyrings = place / "data/keyrings"
        keyrings.mkdir(parents=True)
        (keyrings / "default").write_text("login")
        content = keyring_file(items)
        (keyrings / "login.keyring").write_bytes(content)
        (place / "run").mkdir(mode=0o700)
        self.size, self.items = len(content), items
        with open(self.passcode, "rb") as passcode:
            self.daemon = self.ground.start(
                "gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets",
                "--control-directory", place / "run", stdin=passcode,
                env=dict(os.environ, XDG_DATA_HOME=str(place / "data")))
        self.control = place / "run/control"
        self.ground.await_("gnome-keyring-daemon", self.serves)

    def serves(self):
        try:
            return secret(0) in self.ground.output("secret-tool", "lookup", "name", item(0))
        except Failed:
            return False

    def get(self):
        middle = self.items // 2
        return Timed(["secret-tool", "lookup", "name", item(middle)], shows=secret(middle).encode())

    def answered(self):
        """By Python's keyring, which pip runs where nothing else stands in its place."""
        self.ground.output(self.ground.tool("feed"), self.value, "secret-tool", "store", "--label=ada",
                           "service", "bench", "username", "ada")
        return Timed(["/usr/bin/python3", "-m", "keyring", "-b",
                      "keyring.backends.SecretService.Keyring", "get", "bench", "ada"],
                     shows=secret(5).encode())

    def put(self):
        return Timed([self.ground.tool("feed"), self.value, "secret-tool", "store", "--label=five",
                      "name", item(5)])

    def list(self):
        if self.items >= 10000:
            raise Skipped("asking for all of 10,000 items ends in a D-Bus time-out")
        return Timed(["secret-tool", "search", "--all", "xdg:schema", SCHEMA.decode()])

    def find(self):
        """By a whole attribute: there is no search for a part of a name."""
        return Timed(["secret-tool", "search", "name", item(self.items // 2)])

    def unlocked(self):
        """What PAM does at a login: the passcode over the daemon's control socket."""
        unlock = Timed([self.ground.tool("feed"), self.passcode,
                        self.ground.tool("keyring-unlock"), str(self.control)], prepare=self.relock)
        self.ground.output(self.relock)
        if self.serves():
            raise Failed("gnome-keyring-daemon serves while it is locked")
        self.ground.output(*unlock.command)
        if not self.serves():
            raise Failed("gnome-keyring-daemon was not unlocked over its control socket")
        return unlock

    def bytes_on_disk(self):
        return self.size

    def agent(self):
        return self.daemon and self.daemon.pid

    def close(self):
        """Its processes end with the run."""
