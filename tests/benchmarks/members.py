#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what members in Python and JavaScript receive from a plugin and send to one, with credit returned for every
message. Needs pyzmq and numpy, and `npm ci` in tools/clients/javascript for JavaScript.

    python3 tests/benchmarks/members.py [--build BUILD] [--size BYTES] [python|javascript ...]

The sender sends as fast as it can. First the messages are small; then each has a tensor of 4 MiB, of which a receiving
member adds up every byte. Prints a JSON object for each: messages or megabytes per second, and per second of the member's
processor time, which other programs of the machine disturb less. Each is the best of three rounds.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools/clients/python"))
import trainyard  # noqa: E402

PROGRAMS = {"python": (sys.executable, "py"), "javascript": ("node", "mjs")}
ROUND_S = 2.0
DEADLINE_S = 60


def launch_file(language, sends, size):
    """Returns a launch file with the components `ticker` and `sink`, of which one is a member."""
    program, ending = PROGRAMS[language]
    path = "tests/members/programs/ticker" if sends else "tests/benchmarks/member_sinks/sink"
    member = f"command = {json.dumps([program, f'{SOURCE / path}.{ending}'])}\ndeclaration = \"describe\""
    ticker, sink = (member, 'plugin = "tally"') if sends else ('plugin = "ticker"', member)
    return (f"[component.ticker]\n{ticker}\nparams = {{ count = 0, tensor_bytes = {size} }}\n"
            f"[component.sink]\n{sink}\ninputs.ticks.window_messages = {8 if size else 1024}\n")


def used(pid):
    """Returns the processor time of a process, of all its threads, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sent(run):
    return run.request("call", process="ticker", method="counters")["edges"][0]["sent"]


def wait_for(condition):
    deadline = time.monotonic() + DEADLINE_S
    while not (found := condition()):
        if time.monotonic() > deadline:
            sys.exit("the run does not begin")
        time.sleep(0.05)
    return found


def active(component):
    """Returns the run and the process id of a component when all components are active."""
    try:
        run = trainyard.find_run()
        nodes = {node["component"]: node for node in run.request("nodes")}
    except trainyard.TrainyardError:
        return None
    return (run, nodes[component]["pid"]) if all(node["state"] == "active" for node in nodes.values()) else None


def measure(language, sends, size, folder, environment, program):
    """Returns the rates of the best rounds: by the clock, and by the processor time of the member."""
    path = folder / "bench.toml"
    path.write_text(launch_file(language, sends, size), encoding="utf-8")
    launch = subprocess.Popen([program, "launch", path, "placement=processes"], cwd=folder, env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        run, pid = wait_for(lambda: active("ticker" if sends else "sink"))
        time.sleep(ROUND_S)  # Until everything is compiled and warm.
        rounds = []
        for _ in range(3):
            count, clock, processor = sent(run), time.perf_counter(), used(pid)
            time.sleep(ROUND_S)
            count = sent(run) - count
            rounds.append((count / (time.perf_counter() - clock), count / max(used(pid) - processor, 1e-9)))
        return max(each for each, _ in rounds), max(each for _, each in rounds)
    finally:
        launch.terminate()
        launch.wait(30)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default="build/release", help="the build folder (default: %(default)s)")
    parser.add_argument("--size", type=int, default=4 << 20, help="bytes of a tensor (default: %(default)s)")
    parser.add_argument("language", nargs="*", choices=[*PROGRAMS, []], help="python, javascript; by default both")
    given = parser.parse_args()
    build = pathlib.Path(given.build).resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ty"))
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "tools/clients/python"),
                   "TRAINYARD_PLUGIN_PATH": f"{build}/test_plugins:{build}/plugins"}
    try:
        for language in given.language or PROGRAMS:
            for sends, size in ((False, 0), (False, given.size), (True, 0), (True, given.size)):
                by_clock, by_processor = measure(language, sends, size, folder, environment, build / "bin/trainyard")
                names = ("mb_per_s", "mb_per_cpu_s") if size else ("messages_per_s", "per_cpu_s")
                scale = size / 1e6 if size else 1
                print(json.dumps({"member": language, "it": "sends" if sends else "receives", names[0]: round(by_clock * scale),
                                  names[1]: round(by_processor * scale)}), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
