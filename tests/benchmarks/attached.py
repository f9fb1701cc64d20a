#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what programs that attach to a training cost each thread of its process: the same run with and without them,
in turn.

    python3 tests/benchmarks/attached.py --build build/release [--rounds 5] [--seconds 5] [--stopped] [mlp] [gpt]

Attached are a recorder of all topics, `top`, an `echo`, and a viewer with an open page. Prints one JSON object for each
thread: medians of the processor time that the thread takes for a step, alone and with the programs, in microseconds.
The thread `main` computes the steps, the first thread of the process, `trainyard-proce`, serves the programs, and
`ZMQbg/IO/0` writes to their connections. The object `step` contains the time of a step. In
the first round, "alone" means that nothing has been attached yet, in the others that everything is gone again: `first`
is the former. With --stopped, only the viewer is attached, and it is suspended (SIGSTOP) while it is measured.
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
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/viewer"))
from page_client import Page  # noqa: E402

LAUNCH = """
include = ["{source}/launch/files/{file}"]
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
FILES = {"mlp": "mlp.toml", "gpt": "quickstart.toml"}

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
    """The newest step that was logged, and its time."""
    with open(folder / "out/metrics.jsonl", "rb") as file:
        file.seek(max(0, os.path.getsize(file.name) - 65536))
        lines = [line for line in file.read().split(b"\n")[1:-1] if b'"stage":"train"' in line]
    row = json.loads(lines[-1])
    return row["step"], row["time"]


class OpenPage(threading.Thread):
    """Imitates a browser page of the viewer that shows everything."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.page, self.stopping = Page(url), threading.Event()
        self.run_name = self.page.ask("runs")[0]["run"]
        self.page.ask("watch", run=self.run_name, what=["curves", "graph", "log", "samples", "alerts", "parameters"])
        self.start()

    def run(self):
        while not self.stopping.wait(1):
            self.page.ask("curve", run=self.run_name, stage="train", name="loss", x="step", points=1000, smooth=0.9)
            self.page.pushes.clear()

    def end(self):
        self.stopping.set()
        self.join()


def measure(folder, pid, seconds):
    """Microseconds of each thread for a step, and of a step."""
    begin, before = newest_step(folder), threads(pid)
    time.sleep(seconds)
    end, after = newest_step(folder), threads(pid)
    steps = end[0] - begin[0]
    return {name: (after[name] - before.get(name, 0)) / steps / 1000 for name in after} | {
        "step": (end[1] - begin[1]) / steps * 1e6}


class Attached:
    """A context manager that runs all the programs while its `with` statement is active."""

    def __init__(self, program, folder, environment, stopped):
        self.start = lambda what, output: subprocess.Popen([program, *what], cwd=folder, env=environment, stdout=output,
                                                           stderr=subprocess.DEVNULL, text=True)
        self.folder, self.stopped = folder, stopped

    def __enter__(self):
        self.viewer = self.start(["view"], subprocess.PIPE)
        self.all = [self.viewer]
        if not self.stopped:
            self.all += [self.start(what, subprocess.DEVNULL) for what in ATTACHED]
        self.page = OpenPage(self.viewer.stdout.readline().strip())
        time.sleep(3)
        if self.stopped:
            self.page.end()
            self.viewer.send_signal(signal.SIGSTOP)
        return self

    def __exit__(self, *_):
        died = [one.args for one in self.all if one.poll() is not None]
        self.page.end()
        for one in self.all:
            one.send_signal(signal.SIGCONT)
            one.send_signal(signal.SIGINT)
        for one in self.all:
            one.wait(30)
        self.viewer.stdout.close()
        for recording in self.folder.glob("all*.mcap"):
            recording.unlink()
        if died:
            sys.exit(f"a program has ended: {died}")


def compare(program, model, rounds, seconds, stopped):
    """Prints what the programs cost a training of the model."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, XDG_RUNTIME_DIR=name, OPENBLAS_NUM_THREADS="1")
        (folder / "run.toml").write_text(LAUNCH.format(source=SOURCE, file=FILES[model]), encoding="utf-8")
        with open(folder / "said", "w", encoding="utf-8") as said:
            launch = subprocess.Popen([program, "launch", "run.toml"], cwd=name, env=environment, stdout=said, stderr=said)
        try:
            metrics = folder / "out/metrics.jsonl"
            while not metrics.exists() or b'"stage":"train"' not in metrics.read_bytes():
                if launch.poll() is not None:
                    sys.exit((folder / "said").read_text(encoding="utf-8"))
                time.sleep(0.1)
            nodes = json.loads(subprocess.run([program, "node", "list", "--json"], env=environment, check=True,
                                              capture_output=True, text=True).stdout)
            pid = next(node["pid"] for node in nodes if node["component"].endswith("accelerator_host"))
            alone, attached = [], []
            for _ in range(rounds):
                time.sleep(2)
                alone.append(measure(folder, pid, seconds))
                with Attached(program, folder, environment, stopped):
                    attached.append(measure(folder, pid, seconds))
            report(model, alone, attached)
        finally:
            launch.send_signal(signal.SIGINT)
            try:
                launch.wait(60)
            except subprocess.TimeoutExpired:
                launch.kill()


def report(model, alone, attached):
    for name in attached[0]:
        rows = [[row.get(name, 0) for row in rows] for rows in (alone, attached)]
        difference = statistics.median(after - before for before, after in zip(*rows))
        line = {"name": f"{model}: {name}", "first": round(rows[0][0], 2), "alone": round(statistics.median(rows[0]), 2),
                "attached": round(statistics.median(rows[1]), 2), "difference": round(difference, 2)}
        if name == "step":
            line["ratio"] = round(statistics.median(after / before for before, after in zip(*rows)), 4)
        print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description="What attached programs cost each thread of a training.")
    parser.add_argument("--build", default="build/bench", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--seconds", default=5, type=float)
    parser.add_argument("--stopped", action="store_true", help="suspend a viewer instead of attaching all programs")
    parser.add_argument("models", nargs="*", default=list(FILES), metavar="MODEL", help=" or ".join(FILES))
    arguments = parser.parse_args()
    for model in arguments.models:
        compare(str(arguments.build.resolve() / "bin/trainyard"), model, arguments.rounds, arguments.seconds,
                arguments.stopped)


if __name__ == "__main__":
    main()
