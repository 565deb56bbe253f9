# SPDX-License-Identifier: MIT
"""Cost against size, a panel an operation, a line a store; both axes logarithmic. As SVG."""

import math
from xml.sax.saxutils import escape

OPERATIONS = ("get", "put", "list", "find", "unlock")
COLOURS = {"kura": "#c1272d", "pass": "#0072b2", "keepassxc-cli": "#009e73",
           "secret-tool": "#e69f00"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 260, 220, 60, 60, 56
LEAST, MOST = 0.1, 100_000.0
FEWEST, LARGEST = 10, 1_000_000


def across(items):
    return WIDTH * math.log(items / FEWEST) / math.log(LARGEST / FEWEST)


def up(milliseconds):
    held = min(max(milliseconds, LEAST), MOST)
    return HEIGHT - HEIGHT * math.log(held / LEAST) / math.log(MOST / LEAST)


def words(x, y, text, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def line(x1, y1, x2, y2, more):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>'


def axes(operation, first):
    drawn = [words(0, -10, operation, 'font-weight="bold"')]
    for power in range(-1, 6):
        y = up(10.0 ** power)
        drawn.append(line(0, y, WIDTH, y, 'stroke="#ddd"'))
        if first:
            label = f"{10 ** power:g} ms" if power < 3 else f"{10 ** (power - 3)} s"
            drawn.append(words(-6, y + 4, label, 'text-anchor="end"'))
    for power in range(1, 7):
        x = across(10 ** power)
        drawn.append(line(x, 0, x, HEIGHT, 'stroke="#eee"'))
        drawn.append(words(x, HEIGHT + 16, f"{10 ** power:,}", 'text-anchor="middle"'))
    return drawn


def curve(figures, operation, store):
    points = []
    for name, milliseconds in figures.items():
        parts = name.split("/")
        if parts[0] == operation and parts[-1] == store:
            points.append((across(int(parts[1])), up(milliseconds)))
    points.sort()
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    colour = COLOURS[store]
    drawn = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    if len(points) > 1:
        drawn.append(f'<polyline points="{joined}" fill="none" stroke="{colour}"'
                     ' stroke-width="2"/>')
    return drawn


def picture(figures):
    width = LEFT + len(OPERATIONS) * (WIDTH + GAP)
    drawn = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 50}"'
             ' font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for place, (store, colour) in enumerate(COLOURS.items()):
        x = LEFT + place * 130
        drawn.append(line(x, 18, x + 20, 18, f'stroke="{colour}" stroke-width="3"'))
        drawn.append(words(x + 26, 22, store))
    for place, operation in enumerate(OPERATIONS):
        drawn.append(f'<g transform="translate({LEFT + place * (WIDTH + GAP)},{TOP})">')
        drawn += axes(operation, place == 0)
        for store in COLOURS:
            drawn += curve(figures, operation, store)
        drawn.append("</g>")
    drawn.append(words(LEFT, TOP + HEIGHT + 40,
                       "whole process, median, against the number of items in the store"))
    return "\n".join(drawn + ["</svg>"]) + "\n"
