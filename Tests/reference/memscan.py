#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Look for secrets in a process's memory, as root.

usage: memscan.py PID CANARIES [--self-test] [--files PATH...]

CANARIES is a file of secrets in hexadecimal, one a line, at least 16 bytes each. Every window of 16
bytes of each of them is looked for in every readable mapping of /proc/PID/mem: a freed block keeps
its middle even where an allocator has written over its beginning. --files looks into files and
directories, too. --self-test first plants a part of a secret in a process of its own and finds it
there, so that a scanner that cannot find anything never passes for a process that keeps nothing.

Prints `hit NUMBER WHERE` for each place, NUMBER being the line of the canary from 0. Status 0
without a hit, 1 with one, 2 when nothing could be read.
"""

import argparse
import os
import re
import subprocess
import sys

WINDOW = 16
BLOCK = 8
PAGE = 4096
STEP = 4 << 20
# With more blocks than this, each word of the memory is looked up among them instead of each of them in
# the memory.
MANY = 64
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)")
HOLDER = """import os, signal, sys
part = bytes.fromhex(sys.argv[2])
os.write(int(sys.argv[1]), b"R")
signal.pause()"""
NO_MEMORY = ("[vvar]", "[vvar_vclock]", "[vsyscall]")


def blocks(secret):
    """Its blocks, of which any window of it holds a whole one: those that begin at a multiple of 8."""
    return (secret[start : start + BLOCK] for start in range(0, len(secret) - BLOCK + 1, BLOCK))


class Canaries:
    """Secrets, and where windows of them stand in a block of memory."""

    def __init__(self, secrets):
        self.secrets = secrets
        # The numbers of the secrets that a block stands in, the block as the machine reads a number.
        self.blocks = {}
        for number, secret in enumerate(secrets):
            if len(secret) < WINDOW:
                raise SystemExit(f"memscan: canary {number} is shorter than {WINDOW} bytes")
            for block in blocks(secret):
                self.blocks.setdefault(int.from_bytes(block, sys.byteorder), set()).add(number)

    def hits(self, memory):
        """Pairs of a canary's number and the place of the first window found of it."""
        for number in self.candidates(memory):
            place = self.first_window(self.secrets[number], memory)
            if place is not None:
                yield number, place

    def candidates(self, memory):
        """The numbers of the secrets that a whole block may be there of, in order."""
        if len(self.blocks) <= MANY:
            return range(len(self.secrets))
        sought, found = set(self.blocks), set()
        for shift in range(BLOCK):
            count = (len(memory) - shift) // BLOCK
            words = memoryview(memory)[shift : shift + count * BLOCK].cast("Q")
            found |= sought.intersection(words)
        return sorted(set().union(*(self.blocks[block] for block in found)))

    @staticmethod
    def first_window(secret, memory):
        """Where the first window of a secret begins, however its blocks lie in the memory."""
        for number, block in enumerate(blocks(secret)):
            start = number * BLOCK
            place = memory.find(block)
            while place >= 0:
                low, high = place, place + BLOCK
                while place - low < start and low > 0 and (
                        memory[low - 1] == secret[start - (place - low) - 1]):
                    low -= 1
                while high < len(memory) and start + high - place < len(secret) and (
                        memory[high] == secret[start + high - place]):
                    high += 1
                if high - low >= WINDOW:
                    return low
                place = memory.find(block, place + 1)
        return None


def mappings(pid):
    """Readable mappings: start, end, what they are."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            start, end, rights, name = MAPPING.match(line).groups()
            if "r" in rights and name not in NO_MEMORY:
                yield int(start, 16), int(end, 16), name or "anonymous"


def written(piece):
    """Runs of pages that are not all zeros, each with a window of what stands beside it."""
    zeros, runs = bytes(PAGE), []
    for begin in range(0, len(piece), PAGE):
        if piece.startswith(zeros, begin):
            continue
        low, high = max(begin - WINDOW, 0), min(begin + PAGE + WINDOW, len(piece))
        if runs and runs[-1][1] >= low:
            runs[-1] = (runs[-1][0], high)
        else:
            runs.append((low, high))
    return runs


def scan_process(pid, canaries):
    """Hits in the memory of a process, and how many bytes were looked at."""
    found, total = [], 0
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    try:
        for start, end, name in mappings(pid):
            # Pieces overlap by a window, so that nothing hides on a border.
            for place in range(start, end, STEP):
                count = min(STEP + WINDOW - 1, end - place)
                try:
                    piece = os.pread(memory, count, place)
                except OSError:
                    continue
                total += len(piece)
                found += [(number, f"{name} at {place + low + offset:#x}")
                          for low, high in written(piece)
                          for number, offset in canaries.hits(piece[low:high])]
    finally:
        os.close(memory)
    return found, total


def scan_files(path, canaries):
    """Hits in a file, or in all files below a directory."""
    if os.path.isdir(path):
        below = [os.path.join(top, name) for top, _, names in os.walk(path) for name in names]
        return [hit for name in below for hit in scan_files(name, canaries)]
    if not os.path.isfile(path):
        return []
    with open(path, "rb") as file:
        content = file.read()
    return [(number, f"{path} at {place}") for number, place in canaries.hits(content)]


def self_test():
    """Plants the middle of a secret in a process, which never has the whole, and finds it."""
    secret = os.urandom(48)
    reader, writer = os.pipe()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(writer), secret[13:31].hex()], pass_fds=[writer])
    os.close(writer)
    ready = os.read(reader, 1)
    try:
        found = []
        for count in (1, MANY):
            others = [os.urandom(48) for _ in range(count)]
            found.append(scan_process(holder.pid, Canaries([secret] + others))[0])
    finally:
        holder.kill()
        holder.wait()
    if ready != b"R" or any({number for number, _ in hits} != {0} for hits in found):
        raise SystemExit("memscan: the planted canary was not found, or another was")


def main():
    """Scans as the arguments say."""
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("pid", type=int)
    parser.add_argument("canaries")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--files", nargs="*", default=[])
    arguments = parser.parse_args()
    with open(arguments.canaries, encoding="ascii") as file:
        canaries = Canaries([bytes.fromhex(line) for line in file.read().split()])
    if arguments.self_test:
        self_test()
    try:
        found, total = scan_process(arguments.pid, canaries)
    except OSError as error:
        print(f"memscan: {error}", file=sys.stderr)
        return 2
    if total == 0:
        print("memscan: no memory could be read", file=sys.stderr)
        return 2
    for path in arguments.files:
        found += scan_files(path, canaries)
    for number, place in found:
        print(f"hit {number} {place}")
    print(f"memscan: {total} bytes, {len(found)} hits", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
