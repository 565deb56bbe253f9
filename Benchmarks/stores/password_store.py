# SPDX-License-Identifier: MIT
"""pass: a file of GnuPG's for each item, with the passphrase kept by gpg-agent."""

import os

from ground import Timed, item, secret

# gpg takes some 10 ms a file, pass some 100: one file is made, and stands under all names.
CLONED = "pass: its store is one ciphertext under every name (pass cannot tell)"


class Pass:
    name = "pass"

    def __init__(self, ground):
        self.ground, self.items = ground, 0
        # By this name kura-pass means all of a vault.
        self.store = ground.here / ".password-store"
        home = ground.here / "gnupg"
        home.mkdir(mode=0o700)
        (home / "gpg-agent.conf").write_text(
            "allow-loopback-pinentry\ndisable-scdaemon\n"
            "default-cache-ttl 36000\nmax-cache-ttl 36000\n")
        os.environ.update(GNUPGHOME=str(home), PASSWORD_STORE_DIR=str(self.store))
        self.passphrase = ground.file("passphrase", "eleven quiet storehouses")
        self.line = ground.file("line", secret(5) + "\n")
        self.gpg("--quick-gen-key", "Bench <bench@example.invalid>", "default", "default", "never")
        keys = ground.output("gpg", "--list-keys", "--with-colons")
        key = next(row.split(":")[9] for row in keys.splitlines() if row.startswith("fpr"))
        ground.output("pass", "init", key)
        ground.output(ground.tool("feed"), self.line, "pass", "insert", "-m", item(5))
        self.unlock_once()
        self.sealed = self.path(5).read_bytes()
        self.forget = ground.script("forget", "gpgconf --reload gpg-agent")
        ground.figures.remarks += [CLONED, "pass: unlock is gpg -d of one item by passphrase"]

    def gpg(self, *words):
        return self.ground.output("gpg", "-q", "--batch", "--pinentry-mode", "loopback",
                                  "--passphrase-file", self.passphrase, *words)

    def unlock_once(self):
        self.gpg("-d", str(self.path(5)))

    def path(self, number):
        return self.store / (item(number) + ".gpg")

    def grow(self, items):
        for number in range(self.items, items):
            path = self.path(number)
            if number % 100 == 0:
                path.parent.mkdir(exist_ok=True)
            path.write_bytes(self.sealed)
        self.items = items

    def get(self):
        return Timed(["pass", "show", item(self.items // 2)], shows=secret(5).encode())

    def shown(self):
        return self.get()

    def put(self):
        return Timed([self.ground.tool("feed"), self.line, "pass", "insert", "-m", "-f", item(5)])

    def list(self):
        return Timed(["pass", "ls"], shows=b"item-0000001")

    def find(self):
        wanted = f"item-{self.items // 2:07d}"
        return Timed(["pass", "find", wanted], shows=wanted.encode())

    def unlocked(self):
        return Timed(["gpg", "-q", "--batch", "--pinentry-mode", "loopback", "--passphrase-file",
                      self.passphrase, "-d", str(self.path(5))], prepare=self.forget)

    def bytes_on_disk(self):
        """What the files hold; each takes whole blocks besides."""
        return self.items * len(self.sealed)

    def agent(self):
        told = self.ground.output("gpg-connect-agent", "getinfo pid", "/bye").split()
        return int(told[1])

    def close(self):
        self.ground.output("gpgconf", "--kill", "gpg-agent")
