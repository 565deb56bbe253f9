# SPDX-License-Identifier: MIT
"""The whole run: PROGRAMS, a throw-away directory, where the results go. `run` prepares it."""

import os
import shutil
import signal
import sys
from pathlib import Path

import closeup
import goals
import masking
import moving
import report
import syncing
import values
from ground import Failed, Ground, Skipped, memory
from picture import picture
from stores.kura import Kura
from stores.keepassxc import KeePassXC
from stores.keyring import Keyring
from stores.password_store import Pass

OPERATIONS = {"get": "get", "put": "put", "list": "list", "find": "find", "unlock": "unlocked",
              "show": "shown", "keyring": "answered"}
KURA_ALONE = 1_000_000


def compare(ground, stores, items):
    """Every store and every operation at one size."""
    figures = ground.figures
    for operation, method in OPERATIONS.items():
        commands = {}
        for store in [store for store in stores if hasattr(store, method)]:
            try:
                timed = getattr(store, method)()
                commands[store.name] = (timed, ground.trial(timed))
            except Skipped as reason:
                figures.skipped.append(f"{store.name} {operation} at {items:,}: {reason}")
            except Failed as reason:
                figures.failed.append(f"{store.name} {operation} at {items:,}: {reason}")
        for runs in (ground.fast_runs, ground.runs, ground.slow_runs):
            group = {name: timed for name, (timed, took) in commands.items()
                     if ground.runs_for(took) == runs}
            for name, median in (ground.hyperfine(group, runs) if group else {}).items():
                figures.set(f"{operation}/{items}/{name}", median, runs)
    for store in stores:
        figures.set(f"peak/{items}/{store.name} get", ground.watch(*store.get().command)[3])


def grown(ground, stores, items):
    """The stores that reach a size."""
    reached = []
    for store in stores:
        try:
            store.grow(items)
            ground.figures.set(f"disk/{items}/{store.name}", store.bytes_on_disk() / items)
            reached.append(store)
        except Skipped as reason:
            ground.figures.skipped.append(f"{store.name} at {items:,}: {reason}")
        except Failed as reason:
            ground.figures.failed.append(f"{store.name} at {items:,}: {reason}")
    return reached


def peers(ground):
    """Those that could be set up; one that could not is a failure of the run."""
    made = []
    for kind in (Pass, KeePassXC, Keyring):
        try:
            made.append(kind(ground))
        except (Failed, OSError) as reason:
            ground.figures.failed.append(f"{kind.name}: {reason}")
    return made


def sizes():
    if os.environ.get("SIZES"):
        return [int(size) for size in os.environ["SIZES"].split()]
    return [10, 1000] if os.environ.get("QUICK") else [10, 1000, 10_000, 100_000, KURA_ALONE]


def measure(ground):
    kura = Kura(ground)
    others = []
    try:
        others = peers(ground)
        for items in sizes():
            ground.say(f"making stores of {items:,} items")
            stores = grown(ground, [kura] + (others if items < KURA_ALONE else []), items)
            ground.say("timing")
            compare(ground, stores, items)
            closeup.at_size(ground, kura)
        closeup.once(ground, kura)
        for store in others:
            if store.agent():
                ground.figures.set(f"peak/{store.items}/{store.name}'s daemon",
                                   memory(store.agent(), "VmHWM"))
    finally:
        for store in [kura] + others:
            store.close()
    values.measure(ground)
    moving.measure(ground)
    masking.measure(ground)
    syncing.measure(ground)


def main():
    programs, here, results = sys.argv[1:]
    quick = bool(os.environ.get("QUICK"))
    ground = Ground(programs, here, quick)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        measure(ground)
    except Failed as reason:
        ground.figures.failed.append(str(reason))
    except (KeyboardInterrupt, SystemExit):
        ground.figures.failed.append("interrupted: the rest was not measured")
    finally:
        ground.clean()
        shutil.rmtree(here, ignore_errors=True)
    judged = goals.judge(ground.figures, sizes(), "256MiB" if quick else "1GiB")
    Path(results).mkdir(parents=True, exist_ok=True)
    report.write_json(ground, judged, Path(results) / "results.json")
    (Path(results) / "cost.svg").write_text(picture(ground.figures.values))
    report.show(ground, judged)
    print(f"\n{results}/results.json and {results}/cost.svg hold the same figures.")
    return 1 if ground.figures.failed else 0


if __name__ == "__main__":
    sys.exit(main())
