# SPDX-License-Identifier: MIT
"""The table that people read, and the same figures as JSON."""

import json
import os
import time
from dataclasses import asdict
from pathlib import Path

OPERATIONS = ("get", "put", "list", "find", "unlock", "show", "keyring")
STORES = ("kura", "pass", "keepassxc-cli", "secret-tool")
FLOORS = (("get", "glibc", "one round trip in static C, glibc"),
          ("get", "musl", "one round trip in static C, musl"),
          ("version", "nop_glibc", "a static glibc program that does nothing"),
          ("version", "nop_musl", "a static musl program that does nothing"),
          ("put", "commit", "one durable SQLite commit"),
          ("unlock", "argon2id", "bare Argon2id, 64 MiB, 3 passes"))
UNITS = {"us": "µs", "x": "x"}


def milliseconds(value):
    if value < 10:
        return f"{value:.2f} ms"
    return f"{value:,.0f} ms" if value < 10_000 else f"{value / 1e3:.1f} s"


def times(value):
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def amount(value, unit):
    digits = 0 if value >= 1000 else 1 if value >= 100 else 2
    return f"{value:,.{digits}f} {UNITS.get(unit, unit)}"


def named(figures, kind):
    """The figures of a kind, as (the parts of their names behind it, figure)."""
    return [(name.split("/")[1:], value) for name, value in figures.items()
            if name.split("/")[0] == kind]


def sizes(figures):
    return sorted({int(parts[0]) for parts, _ in named(figures, "disk")})


def cell(figures, operation, items, store):
    took = figures.values.get(f"{operation}/{items}/{store}")
    if took is None:
        return "-"
    ours = figures.values.get(f"{operation}/{items}/kura")
    factor = "" if store == "kura" or not ours else f" ({times(took / ours)} x)"
    return milliseconds(took) + factor


def show_stores(figures):
    print(f"{'':8}{'items':>10}" + "".join(f"{store:>24}" for store in STORES) + f"{'runs':>10}")
    for operation in OPERATIONS:
        for items in sizes(figures.values):
            runs = [figures.runs.get(f"{operation}/{items}/{store}") for store in STORES]
            known = sorted({count for count in runs if count}, reverse=True)
            print(f"{operation:8}{items:>10,}"
                  + "".join(f"{cell(figures, operation, items, store):>24}" for store in STORES)
                  + f"{'/'.join(map(str, known)):>10}")
    show_disk(figures)


def show_disk(figures):
    for items in sizes(figures.values):
        cells = [figures.values.get(f"disk/{items}/{store}") for store in STORES]
        print(f"{'B/item':8}{items:>10,}"
              + "".join(f"{'-' if size is None else f'{size:,.0f} B':>24}" for size in cells))
    for items in sizes(figures.values):
        parts = [f"{parts[1]} {size:,.0f}" for parts, size in named(figures.values, "table")
                 if parts[0] == str(items) and size >= 0.5]
        if parts:
            print(f"bytes an item of kura's tables, {items:,} items: {', '.join(parts)}")


def show_floors(figures):
    print("\nKura against the least that it could take (medians, run by run in turn)")
    for ours, under, words in FLOORS:
        for items in sizes(figures):
            took, least = figures.get(f"race/{items}/{ours}"), figures.get(f"race/{items}/{under}")
            if took and least:
                name = "--version" if ours == "version" else ours
                print(f"{name:10}{items:>10,}{milliseconds(took):>12}  {took / least:6.2f} x"
                      f"{milliseconds(least):>12}  {words}")
    for items in sizes(figures):
        counts = [f"{parts[1]} {count:,}" for parts, count in named(figures, "instructions")
                  if parts[0] == str(items)]
        if counts:
            print(f"instructions of the client, {items:,} items: {', '.join(counts)}")


def show_variables(figures):
    for items in sizes(figures):
        took = {parts[1]: value for parts, value in named(figures, "variables")
                if parts[0] == str(items)}
        if len(took) == 3:
            print(f"{took['count']:,} variables by a prefix, {items:,} items:"
                  f" {milliseconds(took['prefix'])}; as many gets:"
                  f" {milliseconds(took['gets'])} ({times(took['gets'] / took['prefix'])} x)")


def show_agent(figures):
    print("\nInside the agent, over connections that stay")
    for items in sizes(figures):
        name = f"agent/{items}/"
        if name + "get-us" in figures:
            print(f"{items:>20,} items: {figures[name + 'get-us']:.1f} µs a get,"
                  f" {figures[name + 'get-cpu-us']:.1f} µs of it processor,"
                  f" {figures[name + 'gets-per-second']:,.0f} gets/s over 8 connections")
    print("\nMemory (KiB; peak, and at rest after the size's work)")
    for parts, peak in named(figures, "peak"):
        print(f"  peak  {' '.join(parts):32}{peak:>12,.0f}")
    for parts, size in named(figures, "rest"):
        print(f"  rest  {'kura-agent ' + ' '.join(parts):32}{size:>12,.0f}")


def show_values(figures):
    print("\nLarge values")
    for parts, took in named(figures.values, "value"):
        ours = figures.values.get(f"value/{parts[0]}/{parts[1].split()[0]} kura", took)
        print(f"  {parts[0]:8}{parts[1]:28}{milliseconds(took):>12}{times(took / ours):>9} x")


def show_moving(figures):
    print("\nMoving in, and two copies that become one")
    for operation in ("import", "merge"):
        for parts, took in named(figures.values, operation):
            print(f"  {operation:8}{int(parts[0]):>10,}  {parts[1]:16}{milliseconds(took):>12}")


def show_masking(figures):
    print("\nA text of a log through 100 values (MB/s by the clock, and of a processor)")
    for parts, speed in named(figures.values, "masking"):
        if parts[0] == "clock":
            spent = figures.values.get(f"masking/processor/{parts[1]}")
            print(f"  {parts[1]:26}{speed:>12,.0f}{f'{spent:,.0f}' if spent else '-':>12}")
    for parts, took in named(figures.values, "start"):
        print(f"  start of {parts[0]:26}{milliseconds(took):>12}")


def show_syncing(figures):
    print("\nSeveral machines")
    for parts, took in named(figures.values, "several"):
        print(f"  {int(parts[0]):>8,} items  {parts[1]:24}{milliseconds(took):>12}")
    for parts, size in named(figures.values, "sent"):
        print(f"  {int(parts[0]):>8,} items  {'sent for 10 changes':24}{size:>10,.0f} B")
    for parts, took in named(figures.values, "long"):
        print(f"  {parts[0]:14}  {parts[1]:24}{milliseconds(took):>12}")
    for parts, took in named(figures.values, "listen"):
        print(f"  {'by LISTEN':14}  {parts[0]:24}{milliseconds(took):>12}")
    for parts, took in named(figures.values, "beside"):
        print(f"  {int(parts[0]):>8,} items  1 change: {parts[1]:24}{milliseconds(took):>12}")


def show_goals(judged):
    print("\nGoals")
    for one in judged:
        goal = one.goal
        bound = ("at least " if goal.least else "at most ") + amount(goal.limit, goal.unit)
        if one.measured is None:
            measured, share = "", ""
        else:
            measured, share = amount(one.measured, goal.unit), times(one.measured / goal.limit)
        print(f"  {goal.what:42}{bound:>19}{measured:>13}{share:>9}  {one.verdict}")
    print("  (the number before the verdict: measured over goal)")


def show(ground, judged):
    figures = ground.figures
    print(f"Whole processes, medians; (n x) is a peer over Kura. {os.cpu_count()} processors,"
          f" load {os.getloadavg()[0]:.1f}, {time.monotonic() - ground.begun:.0f} s in all.\n")
    show_stores(figures)
    show_floors(figures.values)
    show_variables(figures.values)
    show_agent(figures.values)
    show_values(figures)
    show_moving(figures)
    show_masking(figures)
    show_syncing(figures)
    show_goals(judged)
    if ground.quick:
        print("\nQUICK: no stores of 10,000, 100,000 and 1,000,000, no value of 1 GiB, 10 runs and"
              " fewer: 'make bench' measures all of it.")
    for line in figures.remarks + ["skipped: " + why for why in figures.skipped]:
        print(line)
    for line in figures.failed:
        print("DID NOT RUN: " + line)


def write_json(ground, judged, path):
    figures = ground.figures
    goals = [{"goal": one.goal.what, "limit": one.goal.limit, "unit": one.goal.unit,
              "at": "least" if one.goal.least else "most", "measured": one.measured,
              "verdict": one.verdict} for one in judged]
    whole = {"schema": 1, "quick": ground.quick, "processors": os.cpu_count(),
             "load": os.getloadavg()[0], "seconds": time.monotonic() - ground.begun, "goals": goals,
             "figures": asdict(figures)}
    Path(path).write_text(json.dumps(whole, indent=1) + "\n")
