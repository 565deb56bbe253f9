#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What masking has to make of a text: a model that looks for every form at every place, and knows nothing of streams.

mask_model.py --seed S --count N     cases, a line each: values (hex, by commas), text, what is shown (hex)

A value's forms are found by encoding it between other bytes, with Python's own libraries: what stays the same whatever
the others are is the value's.
"""
import argparse
import base64
import json
import random
import re
import shlex
import urllib.parse

SHORTEST = 6
LONGEST_SEQUENCE = 64
LONGEST_RUN = 1024
ARMOUR = (b"-----BEGIN ", b"-----END ")


def common(encode, value, group):
    """The forms in an encoding by groups of bytes, wherever the value stands in what is encoded."""
    for place in range(group):
        texts = [encode(fill * place + value) for fill in (b"\0", b"\xff")]
        begin = next(i for i in range(len(texts[0])) if texts[0][i:] == texts[1][i:])
        yield texts[0][begin:]
        yield texts[0][begin:].rstrip(b"=")
        inner = [encode(fill * place + value + fill * group) for fill in (b"\0", b"\xff")]
        same = [a == b for a, b in zip(*inner)]
        end = begin
        while end < len(same) and same[end]:
            end += 1
        yield inner[0][begin:end]


def wrapped(text):
    for width in (64, 76):
        if len(text) > width:
            for start in range(0, len(text), width):
                if len(text) - start >= SHORTEST:
                    yield text[start:start + width]


def percent(value):
    quote = urllib.parse.quote_from_bytes
    yield quote(value, safe="").encode()
    yield re.sub(rb"%..", lambda m: m[0].lower(), quote(value, safe="").encode())
    yield quote(value, safe="/").encode()
    yield quote(value, safe="!'()*").encode()
    yield quote(value, safe="!'()*;,/?:@&=+$#").encode()
    yield urllib.parse.quote_plus(value).encode()
    yield urllib.parse.quote_plus(value, safe="*").replace("~", "%7E").encode()


def in_json(value):
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return
    for ascii in (False, True):
        whole = json.dumps(text, ensure_ascii=ascii)[1:-1]
        yield whole.encode()
        yield whole.replace("/", "\\/").encode()
    whole = json.dumps(text, ensure_ascii=False)[1:-1]
    yield re.sub("[<>&\u2028\u2029]", lambda m: "\\u%04x" % ord(m[0]), whole).encode()


def in_shell(value):
    yield value.replace(b"'", b"'\\''")
    yield value.replace(b"'", b"'\"'\"'")
    yield re.sub(rb'["$\\`]', lambda m: b"\\" + m[0], value)
    yield re.sub(rb"[ !\"$&'()*,;<>?\[\\\]^`{|}]|^[#~]", lambda m: b"\\" + m[0], value, flags=re.S)
    names = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "E", 39: "'", 92: "\\"}

    def dollar(byte):
        if byte in names:
            return "\\" + names[byte]
        return "\\%03o" % byte if byte < 32 or byte == 127 else chr(byte)

    yield "".join(map(dollar, value)).encode("latin-1")


def forms(value):
    found = set()
    for value in {value, value.rstrip(b"\r\n")}:
        if len(value) < SHORTEST:
            continue
        found.add(value)
        found.update(common(base64.b64encode, value, 3))
        found.update(common(base64.urlsafe_b64encode, value, 3))
        found.update(common(base64.b32encode, value, 5))
        found.update(wrapped(base64.b64encode(value)))
        found.update(wrapped(base64.b32encode(value)))
        found.update([value.hex().encode(), value.hex().upper().encode()])
        found.update(percent(value))
        found.update(in_json(value))
        found.update(in_shell(value))
    for line in value_lines(value):
        found.add(line)
    return found


def value_lines(value):
    for line in value.split(b"\n"):
        line = line.rstrip(b"\r\n")
        if len(line) >= SHORTEST and not line.startswith(ARMOUR):
            yield line


def all_forms(value):
    return forms(value) | set(value_lines(value))


SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|[0-OQ-WYZ`-~\\])", re.S)


def pieces(text):
    """The text between a terminal's sequences, as runs that no word goes on across: each of [place, byte]."""
    runs, place, run = [[]], 0, 0
    while place < len(text):
        if text[place] != 0x1B:
            runs[-1].append(place)
            run = 0
            place += 1
            continue
        whole = SEQUENCE.match(text, place)
        if whole and len(whole[0]) <= LONGEST_SEQUENCE:
            run += len(whole[0])
            place = whole.end()
            if run > LONGEST_RUN:
                runs.append([])
                run = 0
            continue
        # As far as it might be one it is none, and nothing goes on across it.
        end = place + 1
        while end < len(text) and end - place < LONGEST_SEQUENCE and begins(text[place:end + 1]):
            end += 1
        if end == len(text):
            break
        runs.append([])
        run = 0
        place = end
    return runs


def begins(text):
    return re.fullmatch(rb"\x1b(?:\[[0-?]*[ -/]*|[ -/]+)", text, re.S) is not None


def occurrences(text, form):
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form)
        at = text.find(form, at + 1)


def shown(values, text):
    """The text with names in the place of values, and for each the names that may stand there."""
    finds = []
    solid = set()
    runs = pieces(text)
    everything = [all_forms(value) if SHORTEST <= len(value) <= 65536 else set() for value in values]
    for number, found in enumerate(everything):
        for form in found:
            for begin, end in occurrences(text, form):
                finds.append((begin, end, number))
                solid.update(range(begin, end))
            for run in runs:
                bare = bytes(text[place] for place in run)
                for begin, end in occurrences(bare, form):
                    finds.append((run[begin], run[end - 1] + 1, number))
    # A beginning that the text ends with.
    for places in (list(range(len(text))), runs[-1]):
        tail = bytes(text[place] for place in places)
        for length in range(len(tail), SHORTEST - 1, -1):
            owners = [n for n, found in enumerate(everything) if any(f.startswith(tail[-length:]) for f in found)]
            if owners:
                begin = places[len(tail) - length]
                finds += [(begin, len(text), number) for number in owners]
                if places is not runs[-1]:
                    solid.update(range(begin, len(text)))
                break
    words = {place for run in runs for place in run}
    unions = []
    for begin, end, number in sorted(finds, key=lambda find: find[:2]):
        if unions and begin < unions[-1][1]:
            unions[-1][1] = max(unions[-1][1], end)
        else:
            unions.append([begin, end])
    output, place = b"", 0
    for begin, end in unions:
        owners = {number for other, _, number in finds if other == begin}
        kept = bytes(text[at] for at in range(begin, end) if at not in solid and at not in words)
        output += text[place:begin] + b"[kura: %s]" % b"|".join(b"v%d" % n for n in sorted(owners)) + kept
        place = end
    return output + text[place:]


def sequence(rng):
    return rng.choice([b"\x1b[31m", b"\x1b[0;1m", b"\x1b[m", b"\x1b(B", b"\x1b7", b"\x1b[?25l", b"\x1b[2 q",
                       b"\x1b", b"\x1b[", b"\x1b[3\n", b"\x1b]0;", b"\x1b[" + b"1" * 70 + b"m", b"\x1b[31m" * 210])


def make_value(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return bytes(rng.choice(b"ab") for _ in range(rng.randrange(1, 14)))
    if kind == 1:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(6, 20)))
    if kind == 2:
        return "".join(rng.choice("aé/'\"\\ $`日<&~#\n\t\x07🔑+=") for _ in range(rng.randrange(6, 16))).encode()
    if kind == 3:
        return b"\r\n".join(bytes(rng.choice(b"abc-") for _ in range(rng.randrange(0, 12))) for _ in range(3))
    if kind == 4:
        return b"-----BEGIN KEY-----\n" + base64.b64encode(rng.randbytes(60)) + b"\n-----END KEY-----\n"
    if kind == 5:
        return rng.randbytes(rng.randrange(50, 130))
    return bytes(rng.choice(b"abcdefghijklmnopqrstuvwxyz0123456789/+!'") for _ in range(rng.randrange(4, 24))) + rng.choice([b"", b"\n"])


def make_text(rng, values):
    text = b""
    for _ in range(rng.randrange(1, 9)):
        kind = rng.randrange(10)
        value = rng.choice(values)
        found = sorted(all_forms(value)) or [value]
        if kind < 4:
            text += rng.choice(found)
        elif kind == 4:
            form = rng.choice(found)
            text += form[:rng.randrange(len(form) + 1)]
        elif kind == 5:
            form = rng.choice(found)
            cut = rng.randrange(len(form) + 1)
            text += form[:cut] + sequence(rng) + form[cut:]
        elif kind == 6:
            text += base64.b64encode(rng.randbytes(rng.randrange(4)) + value + rng.randbytes(rng.randrange(4)))
        elif kind == 7:
            text += bytes(rng.choice(b"ab \n=") for _ in range(rng.randrange(12)))
        elif kind == 8:
            text += rng.randbytes(rng.randrange(8))
        else:
            text += sequence(rng)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    for _ in range(arguments.count):
        values = [make_value(rng) for _ in range(rng.randrange(1, 4))]
        if rng.randrange(3) == 0:
            values.append(values[0][rng.randrange(3):rng.randrange(3, 30)] + rng.choice([b"", b"a"]))
        text = make_text(rng, values)
        print(",".join(v.hex() for v in values), text.hex(), shown(values, text).hex(), sep=" ")


if __name__ == "__main__":
    main()
