# SPDX-License-Identifier: MIT
"""startup PROGRAM AGENT LIST: writes to LIST the functions that the client runs, in the order of their first call.

PROGRAM is a client with its names left in; AGENT the engine beside which it is run, in a throw-away home. The linker
puts these functions together, so that a start maps few pages. A name that is gone does no harm.
"""
import bisect
import os
import shutil
import subprocess
import sys
import tempfile

program, agent, target = sys.argv[1:]
COMMANDS = [["--version"], ["get", "a/b"], ["put", "a/b", "--replace"], ["list"], ["status"]]


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def functions():
    """All of the program's, as (address, name), sorted."""
    rows = [line.split() for line in output("nm", "-n", program).splitlines()]
    return [(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tTwW"]


def entry():
    lines = output("readelf", "-h", program).splitlines()
    return next(int(line.split()[-1], 16) for line in lines if "Entry point" in line)


with tempfile.TemporaryDirectory(prefix="kura-startup.") as home:
    environment = {"HOME": home, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": home + "/run"}
    os.mkdir(home + "/run", 0o700)
    kura = shutil.copy(program, home + "/kura")
    shutil.copy(agent, home + "/kura-agent")
    passcode = home + "/passcode"
    with open(passcode, "w") as file:
        file.write("a passcode of a vault that goes")

    def call(*command, before=()):
        subprocess.run([*before, kura, *command], env=environment, input=b"value", check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    call("init", "--weak-kdf", "--kdf-memory", "1MiB", "--kdf-passes", "1", "--no-recovery-key", "--passcode-file",
         passcode)
    call("unlock", "--passcode-file", passcode)
    found = {}
    try:
        call("put", "a/b")
        table, start = functions(), entry()
        addresses = [address for address, _ in table]
        for command in COMMANDS:
            trace = home + "/trace"
            call(*command, before=("valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + trace))
            with open(trace) as lines:
                run = [int(line[2:].split(",")[0], 16) for line in lines if line.startswith("I ")]
            for address in run:
                found[table[bisect.bisect_right(addresses, address - run[0] + start) - 1][1]] = None
    finally:
        call("agent", "stop")

with open(target, "w") as file:
    file.writelines(name + "\n" for name in found)
print(f"startup: {len(found)} functions in {target}")
