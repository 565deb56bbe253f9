# SPDX-License-Identifier: MIT
"""Reads the patches of this directory, finds their place in the sources, and takes the checks out behind a switch."""

import difflib
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = "Tests/mutants"
LEAST = 160

TOKEN = re.compile(r"\w+|[^\w\s]")
# Where patches meet in one condition: what stands before is lost without any mutant.
LOOSE = re.compile(r"&&\s+mutant\(\d+\)\s*\|\|")
SUITE = re.compile(r"^(?:@Suite.* )?(?:struct|extension) (`[^`]+`|\w+)", re.M)

C_SWITCH = """// SPDX-License-Identifier: MIT
/* Says which checks are taken out: the numbers that stood in a file when the process started. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int kura_mutant(int number);
static int active[8];
__attribute__((constructor)) static void read_active(void) {
  char text[64] = {0};
  int fd = open("@ACTIVE@", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (read(fd, text, sizeof text - 1) > 0) {
    char *next = text;
    for (int i = 0; i < 8 && *next; i++) active[i] = (int)strtol(next, &next, 10);
  }
  close(fd);
}
int kura_mutant(int number) {
  for (int i = 0; i < 8; i++)
    if (active[i] == number) return 1;
  return 0;
}
"""

SWIFT_SWITCH = """// SPDX-License-Identifier: MIT

@_silgen_name("kura_mutant") private func kuraMutant(_ number: Int32) -> Int32

func mutant(_ number: Int32) -> Bool { kuraMutant(number) != 0 }
"""


class Fault(Exception):
    """What is wrong with a patch, in words."""


class Patch:
    """One check taken out: its head, and the places where the sources change."""

    def __init__(self, name, text):
        self.name = name
        self.number = int(name.partition("-")[0])
        self.fields = {"tests": [], "stories": [], "pair": None, "argued": None}
        self.hunks = []  # (path, old lines, new lines)
        head, _, body = text.partition("\n--- ")
        self.read_head(head.split("\n"))
        self.read_body(("--- " + body).rstrip("\n").split("\n"))

    def __str__(self):
        return f"{self.number} {self.name.partition('-')[2][:-6]}"

    def fault(self, what):
        return Fault(f"{HERE}/{self.name}: {what}")

    def read_head(self, lines):
        if not lines[0] or ": " in lines[0]:
            raise self.fault("the first line says what is taken out")
        self.what = lines[0]
        for line in lines[1:]:
            key, colon, value = line.partition(": ")
            if not colon or key not in self.fields or not value.strip():
                raise self.fault(f"no such line in a head: {line}")
            if key in ("tests", "stories"):
                value = value.split()
            elif key == "pair":
                value = int(value)
            self.fields[key] = value
        if not self.fields["tests"] and not self.fields["stories"]:
            raise self.fault("no tests: and no stories: line names what should notice")

    def read_body(self, lines):
        path = None
        for line in lines:
            if line.startswith("--- "):
                path = line[4:]
            elif line.startswith("@@"):
                self.hunks.append((path, [], []))
            elif not self.hunks or line[:1] not in (" ", "-", "+", ""):
                raise self.fault(f"neither a file nor a hunk: {line}")
            else:
                for side, sign in ((1, "-"), (2, "+")):
                    if line[:1] in (" ", "", sign):
                        self.hunks[-1][side].append(line[1:])
        if not self.hunks:
            raise self.fault("it changes nothing")
        numbers = set()
        for _, _, new in self.hunks:
            numbers |= set(re.findall(r"\bmutant\((\d+)\)", "\n".join(new)))
        if numbers != {str(self.number)}:
            raise self.fault(f"its changes ask for mutant({self.number}), and for no other")

    def edits(self, sources):
        """The changes as (path, start, end, text): only what differs, so that patches can meet in one line."""
        for path, old, new in self.hunks:
            if path not in sources:
                sources[path] = Source(path)
            if not sources[path].text:
                raise self.fault(f"no such file: {path}")
            yield from self.edits_of(path, sources[path], "\n".join(old), "\n".join(new))

    def edits_of(self, path, source, old, new):
        old_words = TOKEN.findall(old)
        places = source.find(old_words)
        if len(places) != 1:
            text = " ".join(old.split())
            raise self.fault(f"stands {len(places)} times, not once, in {path}; bring it along (README): {text}")
        here = source.spans[places[0] : places[0] + len(old_words)]
        there = [match.span() for match in TOKEN.finditer(new)]
        new_words = [new[start:end] for start, end in there]
        match = difflib.SequenceMatcher(None, old_words, new_words, autojunk=False)
        for kind, i1, i2, j1, j2 in match.get_opcodes():
            if kind == "equal":
                continue
            if kind == "insert" and i1 == len(here):  # after the last word
                end = here[-1][1]
                yield path, end, end, new[there[j1 - 1][1] : there[j2 - 1][1]]
            else:  # with the space (an end of line, say) on both sides; an insertion goes before the next word
                start = there[j1 - 1][1] if j1 > 0 else there[0][0]
                stop = there[j2][0] if j2 < len(there) else there[-1][1]
                end = here[i2 - 1][1] if i2 > i1 else here[i1][0]
                yield path, here[i1][0], end, new[start:stop]


class Source:
    """A file and its words: a patch goes by words, so that a new indentation does not hurt it."""

    def __init__(self, path):
        try:
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                self.text = file.read()
        except FileNotFoundError:
            self.text = ""
        self.spans = [match.span() for match in TOKEN.finditer(self.text)]
        self.words = [self.text[start:end] for start, end in self.spans]

    def find(self, wanted):
        count = len(wanted)
        return [
            start
            for start in range(len(self.words) - count + 1)
            if self.words[start] == wanted[0] and self.words[start : start + count] == wanted
        ]


def read_patches():
    patches = []
    for name in sorted(os.listdir(os.path.join(ROOT, HERE))):
        if not name.endswith(".patch"):
            continue
        if not re.fullmatch(r"\d{3,4}-[a-z0-9-]+\.patch", name):
            raise Fault(f"{HERE}/{name}: a patch is named NNN-what-goes.patch")
        with open(os.path.join(ROOT, HERE, name), encoding="utf-8") as file:
            patches.append(Patch(name, file.read()))
    return patches


def changed_sources(patches):
    """The text of each source that a patch changes, with all patches in it; and what is wrong with them."""
    sources, edits, faults = {}, {}, []
    for patch in patches:
        try:
            for path, start, end, text in patch.edits(sources):
                edits.setdefault(path, []).append((start, end, text, patch))
        except Fault as fault:
            faults.append(str(fault))
    texts = {}
    for path, list_of_edits in edits.items():
        text, at, last = "", 0, None
        for start, end, new, patch in sorted(list_of_edits, key=lambda e: (e[0], e[1], e[3].number)):
            if start < at:
                faults.append(str(patch.fault(f"changes the same words as {last.name}")))
                continue
            text += sources[path].text[at:start] + new
            at, last = end, patch
        text += sources[path].text[at:]
        texts[path] = "int kura_mutant(int number);\n#define mutant kura_mutant\n" + text if path.endswith(".c") else text
    return texts, faults


def switch(paths, active):
    """The files that make the switch, for the targets of the changed sources."""
    files = {"Sources/CKuraSystem/mutant.c": C_SWITCH.replace("@ACTIVE@", active)}
    for path in paths:
        target = "/".join(path.split("/")[:2])
        if path.endswith(".swift"):
            files[f"{target}/Mutant.swift"] = SWIFT_SWITCH
    return files


def suites(name):
    """The filter that runs the tests of a file that is named as TARGET/FILE."""
    target, _, file = name.partition("/")
    for folder, _, files in os.walk(os.path.join(ROOT, "Tests", target)):
        if file + ".swift" in files:
            with open(os.path.join(folder, file + ".swift"), encoding="utf-8") as opened:
                found = sorted({name.strip("`") for name in SUITE.findall(opened.read())})
            if found:  # a name of one word is listed without its backticks
                return "^" + re.escape(target) + r"\.`?(" + "|".join(map(re.escape, found)) + ")`?/"
    return None


def loose(text):
    """The switches in a text that take a check out although no mutant is on."""
    return [found.strip("& ") for found in LOOSE.findall(text)]


def check(patches):
    """All that is wrong with the patches."""
    texts, faults = changed_sources(patches)
    for path, text in texts.items():
        faults += [f"{HERE}: in {path} brackets are missing around: {found}" for found in loose(text)]
    numbers = [patch.number for patch in patches]
    for patch in patches:
        if numbers.count(patch.number) > 1:
            faults.append(str(patch.fault("another patch has this number")))
        for name in patch.fields["tests"]:
            if not suites(name):
                faults.append(str(patch.fault(f"no file of tests: {name}")))
        for name in patch.fields["stories"]:
            if not os.path.exists(os.path.join(ROOT, "Fixtures/scripts", name + ".txt")):
                faults.append(str(patch.fault(f"no such story: {name}")))
        if patch.fields["pair"] is not None and patch.fields["pair"] not in numbers:
            faults.append(str(patch.fault(f"no patch of its pair: {patch.fields['pair']}")))
    if len(patches) < LEAST:
        faults.append(f"{HERE}: {len(patches)} patches; at least {LEAST} stood here")
    return faults
