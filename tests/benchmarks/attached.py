#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what programs that attach to a training cost each thread of its process: the same run with and without them,
in turn.

    python3 tests/benchmarks/attached.py --build build/release [--rounds 5] [--seconds 5]

Attached are a recorder of all topics, `top` and an `echo`. Prints one JSON object for each thread: medians of the
processor time that the thread takes for a step, alone and with the programs, in microseconds. The process has one
thread for all components, so that the thread `train` is the one that computes the steps; `control` serves the programs,
and `ZMQbg/IO/0` writes to their connections.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]

LAUNCH = """
include = ["{source}/launch/files/mlp.toml"]
[run]
directory = "out"
max_steps = 1_000_000_000
validate_every_epochs = 0
validate_every_steps = 0
[component.accelerator_host.params]
accelerator = {{ plugin = "cpu", threads = "1" }}
[component.logger.params]
console = "off"
tensorboard = false
"""
ATTACHED = (["bag", "record", "-o", "all.mcap", "--max-files", "2"], ["top", "--json"],
            ["topic", "echo", "/gradients"])


def threads(pid):
    """Nanoseconds of processor time of each thread."""
    times = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text(encoding="utf-8").strip()
        times[name] = times.get(name, 0) + int((task / "schedstat").read_text(encoding="utf-8").split()[0])
    return times


def newest_step(folder):
    with open(folder / "out/metrics.jsonl", "rb") as file:
        file.seek(max(0, os.path.getsize(file.name) - 65536))
        lines = [line for line in file.read().split(b"\n")[1:-1] if b'"stage":"train"' in line]
    return json.loads(lines[-1])["step"]


def measure(folder, pid, seconds):
    """Microseconds of each thread for a step."""
    step, before = newest_step(folder), threads(pid)
    time.sleep(seconds)
    steps, after = newest_step(folder) - step, threads(pid)
    return {name: (after[name] - before.get(name, 0)) / steps / 1000 for name in after} | {"steps": steps / seconds}


def main():
    parser = argparse.ArgumentParser(description="What attached programs cost each thread of a training.")
    parser.add_argument("--build", default="build/bench", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--seconds", default=5, type=float)
    arguments = parser.parse_args()
    program = str(arguments.build.resolve() / "bin/trainyard")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, XDG_RUNTIME_DIR=name, OPENBLAS_NUM_THREADS="1")
        (folder / "run.toml").write_text(LAUNCH.format(source=SOURCE), encoding="utf-8")
        with open(folder / "said", "w", encoding="utf-8") as said:
            launch = subprocess.Popen([program, "launch", "run.toml"], cwd=name, env=environment, stdout=said, stderr=said)
        attached = []
        try:
            metrics = folder / "out/metrics.jsonl"
            while not metrics.exists() or b'"stage":"train"' not in metrics.read_bytes():
                if launch.poll() is not None:
                    sys.exit((folder / "said").read_text(encoding="utf-8"))
                time.sleep(0.1)
            nodes = json.loads(subprocess.run([program, "node", "list", "--json"], env=environment, check=True,
                                              capture_output=True, text=True).stdout)
            pid = next(node["pid"] for node in nodes if node["component"].endswith("accelerator_host"))
            alone, watched = [], []
            for _ in range(arguments.rounds):
                time.sleep(1)
                alone.append(measure(folder, pid, arguments.seconds))
                attached = [subprocess.Popen([program, *what], cwd=name, env=environment, stdout=subprocess.DEVNULL)
                            for what in ATTACHED]
                time.sleep(2)
                watched.append(measure(folder, pid, arguments.seconds))
                assert all(one.poll() is None for one in attached), "a program has ended"
                while attached:
                    one = attached.pop()
                    one.send_signal(signal.SIGINT)
                    one.wait(30)
                (folder / "all.mcap").unlink()
            for thread in watched[0]:
                rows = [[row.get(thread, 0) for row in rows] for rows in (alone, watched)]
                difference = statistics.median(after - before for before, after in zip(*rows))
                print(json.dumps({"name": thread, "alone": round(statistics.median(rows[0]), 2),
                                  "attached": round(statistics.median(rows[1]), 2),
                                  "difference": round(difference, 2)}), flush=True)
        finally:
            for one in attached:
                one.kill()
            launch.send_signal(signal.SIGINT)
            try:
                launch.wait(60)
            except subprocess.TimeoutExpired:
                launch.kill()


if __name__ == "__main__":
    main()
