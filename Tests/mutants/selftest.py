# SPDX-License-Identifier: MIT
"""Shows that what is wrong with a patch is noticed: called before the patches are looked at."""

import patches as made

HEAD = "Something passes.\ntests: KuraCryptoTests/SealTests\n--- Sources/Planted.swift\n@@\n"
PLANTED = "func check() {\n  guard a == b else { return }\n  look(at: a)\n  look(at: b)\n}\n"


class Planted(made.Source):
    def __init__(self, text):
        self.text = text
        self.spans = [match.span() for match in made.TOKEN.finditer(text)]
        self.words = [text[start:end] for start, end in self.spans]


def applied(*texts):
    sources, edits = {"Sources/Planted.swift": Planted(PLANTED)}, []
    for number, text in enumerate(texts, 1):
        edits += list(made.Patch(f"{number:03}-planted.patch", text).edits(sources))
    result = PLANTED
    for _, start, end, new in sorted(edits, key=lambda edit: edit[1], reverse=True):
        result = result[:start] + new + result[end:]
    return result


def words(text):
    return made.TOKEN.findall(text)


def is_refused(text):
    try:
        applied(text)
    except made.Fault:
        return True
    return False


def run():
    one = HEAD + "-guard a == b else\n+guard mutant(1) || a == b else\n"
    two = HEAD + " { return }\n-look(at: a)\n+if !mutant(2) { look(at: a) }\n"
    both = PLANTED.replace("a == b", "mutant(1) || a == b").replace("look(at: a)", "if !mutant(2) { look(at: a) }")
    return [
        what
        for what, holds in {
            "a patch changes its place": words(applied(one)) == words(PLANTED.replace("a ==", "mutant(1) || a ==")),
            "two patches change one text": words(applied(one, two)) == words(both),
            "spaces do not count": applied(one.replace("-guard a ==", "-guard   a\n-  ==")) == applied(one),
            "a replaced word keeps its space": " && " in applied(one.replace("|| a ==", "|| a &&")),
            "a place that is gone is noticed": is_refused(one.replace("-guard a", "-guard c")),
            "a place that is there twice is noticed": is_refused(HEAD + "-look(at:\n+mutant(1) || look(at:\n"),
            "a change without its switch is noticed": is_refused(one.replace("mutant(1)", "true")),
            "a change behind another switch is noticed": is_refused(one.replace("mutant(1)", "mutant(2)")),
            "a head that names no test is noticed": is_refused(one.replace("tests: KuraCryptoTests/SealTests\n", "")),
            "a switch without brackets is noticed": made.loose("a == b &&  mutant(1) || c") == ["mutant(1) ||"],
            "one with brackets is none": not made.loose("a && (mutant(1) || b) && !mutant(2) && c || d"),
            "a file of tests that is not there has no filter": made.suites("KuraCryptoTests/NoTests") is None,
            "a file of tests has a filter": "SealTests" in (made.suites("KuraCryptoTests/SealTests") or ""),
        }.items()
        if not holds
    ]
