# SPDX-License-Identifier: MIT
"""Builds all mutants behind one switch, runs each with the tests that should notice, and says which did.

run.py check    every patch has its place, its tests and a number of its own
run.py [21 31-40 ...]    builds and runs these, or all
run.py features [21 ...]    runs them row by row of Tests/features.md: the fact named there must go red, no other
"""

import ctypes
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import features
import patches as made
import selftest

WORK = os.path.join(made.ROOT, ".build/mutants")
TREE = os.path.join(WORK, "tree")
ACTIVE = os.path.join(WORK, "active")
LOG = os.path.join(WORK, "log")
# Only what hangs comes near it: a mutant that takes an end away may wait for ever.
MOST_SECONDS = 1200
ISSUE = re.compile(r"^✘ Test (.*?)(?:\(.*?\))? recorded an issue(?: with \d+ arguments? (.*?))? at (\S+?:\d+)")
# An issue with an argument of several lines has no such line, and of a long output a piece may get lost.
END = re.compile(r"^([✔✘➜]) Test (?!run|case)(.*?)(?:\(.*?\))?(?: with \d+ test cases?)? (?:passed|failed|skipped)")
ENDED = {}


def reap(*_):
    """Takes every child that ended: some tests wait for the end of what they left behind."""
    try:
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            ENDED[process] = status
    except ChildProcessError:
        return


def descendants():
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    ours = {os.getpid()}
    while True:
        more = {child for child, parent in parents.items() if parent in ours} - ours
        if not more:
            return ours - {os.getpid()}
        ours |= more


def end_all():
    while running := descendants():
        for process in running:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
        reap()


def write(path, text):
    """Writes only what differs, so that a build goes on from the one before."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def copy_tree(texts):
    wanted = set(texts)
    for folder, folders, files in os.walk(made.ROOT):
        folders[:] = [name for name in folders if name not in (".build", ".git", "__pycache__")]
        for name in files:
            source = os.path.join(folder, name)
            path = os.path.relpath(source, made.ROOT)
            target = os.path.join(TREE, path)
            if path in wanted or not os.path.isfile(source):
                continue
            wanted.add(path)
            ours = os.stat(source)
            try:
                there = os.stat(target)
                if (there.st_size, there.st_mtime_ns) == (ours.st_size, ours.st_mtime_ns):
                    continue
            except FileNotFoundError:
                os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)
    for path, text in texts.items():
        write(os.path.join(TREE, path), text)
    for folder, folders, files in os.walk(TREE):
        folders[:] = [name for name in folders if name != ".build"]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.relpath(path, TREE) not in wanted:
                os.remove(path)


def lend():
    """Has the tree find the programs of others that are unpacked here: without them stories end early, and notice nothing."""
    here, there = os.path.join(made.ROOT, ".build/unpacked"), os.path.join(TREE, ".build/unpacked")
    if os.path.isdir(here) and not os.path.lexists(there):
        os.makedirs(os.path.dirname(there), exist_ok=True)
        os.symlink(here, there)


def build(patches):
    texts, _ = made.changed_sources(patches)
    texts.update(made.switch(list(texts), ACTIVE))
    copy_tree(texts)
    lend()
    with open(LOG, "w") as log:
        command = ["swift", "build", "--build-tests"]
        if subprocess.run(command, cwd=TREE, stdout=log, stderr=log).returncode != 0:
            log.flush()
            with open(LOG) as file:
                errors = dict.fromkeys(line for line in file if re.match(r"\S+:\d+:\d+: error: |error: ", line))
            sys.exit("mutants: the build failed; all of it is in .build/mutants/log\n" + "".join(errors))


class Run:
    """One run of some tests with some checks taken out: what went red first, or all that did."""

    def __init__(self, numbers, filters, stories=(), to_the_end=False, pardoned=()):
        write(ACTIVE, " ".join(map(str, numbers)) + "\n")
        self.issues, self.under_way, self.has_ended, self.count = [], [], False, 0
        command = ["swift", "test", "--skip-build", "--disable-xctest"]
        for text in filters:
            command += ["--filter", text]
        settings = dict(os.environ, KURA_BIN=f"{TREE}/.build/debug", SWIFT_BACKTRACE="enable=no",
                        SWT_SWIFT_ERROR_BACKTRACING_ENABLED="0")
        settings.pop("KURA_STORIES", None)
        if stories:
            settings["KURA_STORIES"] = " ".join(stories)
        child = subprocess.Popen(
            command, cwd=TREE, env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        signal.alarm(MOST_SECONDS)
        try:
            with open(LOG, "a") as log:
                log.write(f"== {numbers}: {' '.join(filters)} {' '.join(stories)}\n")
                for line in child.stdout:
                    log.write(line)
                    self.read(line, pardoned)
                    if self.issues and not to_the_end:
                        break
            while child.pid not in ENDED and not (self.issues and not to_the_end):
                time.sleep(0.02)
        except TimeoutError:
            self.issues.append(f"(it hangs: {', '.join(self.under_way[:3])})")
        finally:
            signal.alarm(0)
            end_all()
            child.stdout.close()
            child.returncode = ENDED.pop(child.pid, 0)
        if self.has_ended or self.issues:
            return
        if child.returncode == 0:
            self.count = 1
        else:
            self.issues.append(f"(it breaks off: {', '.join(self.under_way[:3])})")

    def read(self, line, pardoned):
        if found := ISSUE.match(line):
            name = found[1] + (f" ({found[2]})" if found[2] else "")
            if name not in pardoned:
                self.issues.append(f"{name} [{found[3]}]")
        elif found := re.match(r"◇ Test (?!run|case)(.*?)(?:\(\))? started\.", line):
            self.under_way.append(found[1])
        elif found := END.match(line):
            if found[2] in self.under_way:
                self.under_way.remove(found[2])
            if found[1] == "✘":
                self.note_failed(found[2], pardoned)
        elif found := re.match(r"([✔✘]) Test run with (\d+) test", line):
            self.has_ended, self.count = True, int(found[2])
            if found[1] == "✘" and not self.issues and not pardoned:
                self.issues.append("(a test of which nothing was told)")

    def note_failed(self, name, pardoned):
        """Notes a test that ended red, unless an issue of it was told before."""
        if not any(text == name or text.startswith((f"{name} (", f"{name} [")) for text in (*self.issues, *pardoned)):
            self.issues.append(f"{name} [its issue was not told]")


STORY = r"^EndToEndTests\.StoryTests/.a story comes true"


def verdict(numbers, patches, pardoned):
    """The first test that goes red with these checks out; None when none does."""
    tests = [made.suites(name) for patch in patches for name in patch.fields["tests"]]
    stories = [name for patch in patches for name in patch.fields["stories"]]
    for filters, names in ((tests, ()), ([STORY] if stories else [], stories)):
        if filters:
            run = Run(numbers, filters, names, pardoned=pardoned)
            if run.issues:
                return run.issues[0]
            if run.count == 0:
                raise made.Fault(f"no test ran for {', '.join(map(str, patches))}")
    return None


def chosen(patches, words):
    wanted = set()
    for word in words:
        first, _, last = word.partition("-")
        wanted |= set(range(int(first), int(last or first) + 1))
    return [patch for patch in patches if not wanted or patch.number in wanted]


def issues_without(tests, stories):
    """What is red without a mutant."""
    red = Run([0], tests, to_the_end=True).issues if tests else []
    if stories:
        red += Run([0], [STORY], stories, to_the_end=True).issues
    return red


def control(selection):
    """Without a mutant all is green. What is not is no proof of anything, and is left out of account."""
    tests = sorted({made.suites(name) for patch in selection for name in patch.fields["tests"]})
    stories = sorted({name for patch in selection for name in patch.fields["stories"]})
    red = issues_without(tests, stories)
    for issue in red:
        print(f"  red without a mutant: {issue}", flush=True)
    return red


def run(patches, words):
    selection = chosen(patches, words)
    print(f"== {len(patches)} mutants, built", flush=True)
    build(patches)
    adopt()
    print(f"== no mutant ({len(selection)} are to be run)", flush=True)
    red = control(selection)
    pardoned = {issue.rpartition(" [")[0] for issue in red}
    by_number = {patch.number: patch for patch in patches}
    counts = {"killed": 0, "argued": 0, "survived": 0}
    survivors = []
    for patch in selection:
        kind, note = outcome(patch, by_number.get(patch.fields["pair"]), pardoned)
        counts[kind] += 1
        if kind == "survived":
            survivors.append(patch)
        print(f"{patch}: {note}", flush=True)
    print(f"== {counts['killed']} killed, {counts['argued']} redundant or argued, {len(survivors)} survived")
    for patch in survivors:
        print(f"survived: {made.HERE}/{patch.name}")
    return 1 if survivors or red else 0


def outcome(patch, pair, pardoned):
    """What became of a mutant, and in words."""
    try:
        if killer := verdict([patch.number], [patch], pardoned):
            return "killed", f"killed by {killer}"
        if pair and (killer := verdict([patch.number, pair.number], [patch, pair], pardoned)):
            return "argued", f"redundant with {pair.number}: both killed by {killer}"
    except made.Fault as fault:
        return "survived", f"SURVIVED: {fault}"
    if patch.fields["argued"]:
        return "argued", f"argued: {patch.fields['argued']}"
    return "survived", f"SURVIVED: {patch.what}"


class RunOfFact(Run):
    """A run that ends when the fact of a row is red, whatever else is."""

    def __init__(self, row):
        self.row = row
        if row.is_story:
            super().__init__([row.number], [STORY], [row.name])
        else:
            super().__init__([row.number], [made.suites(row.name)])

    def read(self, line, pardoned):
        super().read(line, pardoned)
        self.issues = [issue for issue in self.issues if self.row.is_red(issue)]


def run_features(patches, words):
    """Takes out the feature of each row, and says whether the fact that shows it turned red."""
    numbers = {patch.number for patch in chosen(patches, words)}
    selection = [row for row in features.rows() if row.number in numbers]
    build(patches)
    adopt()
    before = issues_without(
        sorted({made.suites(row.name) for row in selection if not row.is_story}),
        sorted({row.name for row in selection if row.is_story}))
    alive = []
    for row in selection:
        if any(map(row.is_red, before)):
            word = "RED WITHOUT A MUTANT"
        else:
            word = "red" if any(map(row.is_red, RunOfFact(row).issues)) else "STAYED GREEN"
        if word != "red":
            alive.append(row)
        print(f"{row.number:03} {row.name}: {row.fact}: {word}", flush=True)
    print(f"== {len(selection) - len(alive)} facts turned red, {len(alive)} did not")
    return 1 if alive else 0


def time_out(*_):
    raise TimeoutError


def adopt():
    """What a test leaves behind when it is broken off becomes ours, and ends with us."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    signal.signal(signal.SIGCHLD, reap)
    signal.signal(signal.SIGALRM, time_out)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def main(words):
    try:
        patches = made.read_patches()
        faults = selftest.run() + features.selftest() + made.check(patches)
    except made.Fault as fault:
        faults = [str(fault)]
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    if words == ["check"]:
        return 0
    os.makedirs(WORK, exist_ok=True)
    try:  # held until this process ends; one mutant is on at a time
        fcntl.flock(os.open(WORK, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("mutants: another run is under way here")
    if words[:1] == ["features"]:
        return run_features(patches, words[1:])
    return run(patches, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
