# SPDX-License-Identifier: MIT
"""`kura ui` in a terminal of 24 lines of 80 that nobody draws: milliseconds until it sends what was waited for."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from statistics import median

from ground import Failed

LONGEST = 20
LARGEST = 100_000
QUIET = 0.1


class Screen:
    """A screen that was started, and what it has sent since it was last asked."""

    def __init__(self, program):
        self.begun = time.monotonic()
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.environ["TERM"] = "xterm-256color"
            os.execv(program, [program, "ui"])

    def ready(self, seconds):
        return bool(select.select([self.terminal], [], [], seconds)[0])

    def type(self, keys):
        """Types, once nothing more comes of what was typed before."""
        while self.ready(QUIET):
            os.read(self.terminal, 65536)
        self.begun = time.monotonic()
        os.write(self.terminal, keys)

    def until(self, words=b""):
        """Milliseconds since the start or the last key until these words came; none: until anything did."""
        sent = b""
        while not sent or words not in sent:
            if not self.ready(LONGEST):
                raise Failed(f"kura ui: no {words or 'answer'} within {LONGEST} s")
            try:
                sent += os.read(self.terminal, 65536)
            except OSError:
                raise Failed("kura ui: it ended") from None
        return (time.monotonic() - self.begun) * 1e3

    def end(self):
        os.kill(self.process, signal.SIGTERM)
        # It draws its last while nobody reads otherwise.
        try:
            while self.ready(LONGEST) and os.read(self.terminal, 65536):
                pass
        except OSError:
            pass
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def rounds(ground, kura, took):
    for _ in range(ground.runs):
        screen = Screen(kura.program)
        try:
            took["first"].append(screen.until(b"items"))
            screen.type(b"j")
            took["key"].append(screen.until())
            screen.type(b"\r")
            screen.until(b"protection")
            screen.type(b"\x1b")
            took["escape"].append(screen.until())
            screen.type(b"")
            subprocess.run([kura.program, "-q", "lock"], check=True)
            took["cover"].append(screen.until(b"passcode"))
        finally:
            screen.end()
            kura.unlock()


def measure(ground, kura):
    """First screen, a key, a lone Escape, and from the start of `kura lock` to the cover."""
    if kura.items > LARGEST:
        return
    took = {"first": [], "key": [], "escape": [], "cover": []}
    rounds(ground, kura, took)
    for name, each in took.items():
        ground.figures.set(f"screen/{kura.items}/{name}", median(each), len(each))
