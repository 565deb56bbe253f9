# SPDX-License-Identifier: MIT
"""Reads the rows of Tests/features.md, and tells whether what went red is the fact that a row names."""

import os
import re

import patches as made

ROW = re.compile(r"^\| (?P<feature>[^|]+) \| `(?P<name>[\w/-]+)`: (?P<fact>[^|]+) \| (?P<number>\d{3,4}) \|$")
PLACE = re.compile(r"^(?P<test>.*) \[(?:(?P<file>[\w.-]+):(?P<line>\d+)|[^\]]*)\]$")


class Row:
    """A feature, the fact of a story or a test that shows it, and the patch that takes it out."""

    def __init__(self, match):
        self.feature, self.name, self.fact = match["feature"], match["name"], match["fact"]
        self.number = int(match["number"])
        self.is_story = "/" not in self.name
        self.lines = self.paragraph(self.story()) if self.is_story else range(0)

    def story(self):
        path = os.path.join(made.ROOT, "Fixtures/scripts", self.name + ".txt")
        with open(path, encoding="utf-8") as file:
            return file.read().split("\n")

    def paragraph(self, lines):
        """The numbers of the lines that show the fact, from its heading on."""
        if "# " + self.fact not in lines:
            return range(0)
        first = lines.index("# " + self.fact)
        last = next((i for i in range(first, len(lines)) if not lines[i].strip()), len(lines))
        return range(first + 1, last + 1)

    def is_red(self, issue):
        """Whether an issue, as a run tells it, is that this fact does not hold."""
        found = PLACE.match(issue)
        if not found:
            return False
        if not self.is_story:
            return found["test"].partition(" (")[0].strip('"`') == self.fact
        return found["file"] == self.name + ".txt" and int(found["line"]) in self.lines


def rows():
    with open(os.path.join(made.ROOT, "Tests/features.md"), encoding="utf-8") as file:
        return [Row(match) for line in file if (match := ROW.match(line.rstrip("\n")))]


def selftest():
    """What of the above does not hold."""
    row = Row(ROW.match("| A line ends | `KuraCLITests/LineEditorTests`: a line has an end | 347 |"))
    story = Row(ROW.match("| A tells | `prompt`: Each character shows a bullet, never itself | 308 |"))
    planted = ["# Of a", "", "# Each character shows a bullet, never itself", "a", "  > b", "", "# C", "c"]
    return [
        what
        for what, holds in {
            "rows are read": len(rows()) > 60,
            "a test is told by its name": row.is_red('"a line has an end" [LineEditorTests.swift:185]'),
            "a failed test is told by its name": row.is_red('"a line has an end" [its issue was not told]'),
            "another test is another": not row.is_red('"a line is drawn" [LineEditorTests.swift:185]'),
            "a paragraph ends at a blank line": story.paragraph(planted) == range(3, 6),
            "a paragraph that is not there has no line": not Row.paragraph(story, ["# A", "a"]),
            "a story is told by its line": story.is_red(f'"a story comes true" (file → prompt) [prompt.txt:{story.lines[1]}]'),
            "another paragraph is another": not story.is_red('"a story comes true" (file → prompt) [prompt.txt:1]'),
            "another story is another": not story.is_red(f'"a story comes true" [ui.txt:{story.lines[1]}]'),
        }.items()
        if not holds
    ]
