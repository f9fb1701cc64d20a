#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what an attached viewer with an open page costs a training: the same training with and without it, in turn.

    python3 tests/benchmarks/viewer.py --build build/release [--rounds 5] [--seconds 10] [mlp] [gpt]

Prints one JSON object for each model: medians of the processor time that the run's process takes for a step, which does
not depend on what else the machine does, and of the time of a step. The page watches everything and asks for a curve once
a second, as a real one does. With --stopped, the viewer is suspended (SIGSTOP) instead.
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


def step_and_cpu(folder, pid):
    """The newest step that was logged, its time, and the processor seconds of the run's process."""
    ticks = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    with open(folder / "out/metrics.jsonl", "rb") as file:
        file.seek(max(0, os.path.getsize(file.name) - 65536))
        lines = [line for line in file.read().split(b"\n")[1:-1] if b'"stage":"train"' in line]
    row = json.loads(lines[-1])
    return row["step"], row["time"], (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


class OpenPage(threading.Thread):
    """A page that shows everything."""

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


def measure(build, model, seconds, watched, stopped):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, XDG_RUNTIME_DIR=name, OPENBLAS_NUM_THREADS="1")
        (folder / "run.toml").write_text(LAUNCH.format(source=SOURCE, file=FILES[model]), encoding="utf-8")
        program = str(build / "bin/trainyard")
        with open(folder / "said", "w", encoding="utf-8") as said:
            launch = subprocess.Popen([program, "launch", "run.toml"], cwd=name, env=environment, stdout=said, stderr=said)
        viewer = page = None
        try:
            while not (folder / "out/metrics.jsonl").exists() or b'"stage":"train"' not in (
                    folder / "out/metrics.jsonl").read_bytes():
                if launch.poll() is not None:
                    sys.exit((folder / "said").read_text(encoding="utf-8"))
                time.sleep(0.1)
            nodes = json.loads(subprocess.run([program, "node", "list", "--json"], env=environment, check=True,
                                              capture_output=True, text=True).stdout)
            pid = next(node["pid"] for node in nodes if node["component"].endswith("accelerator_host"))
            if watched:
                viewer = subprocess.Popen([program, "view"], cwd=name, env=environment, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, text=True)
                page = OpenPage(viewer.stdout.readline().strip())
            time.sleep(3)
            if stopped and viewer:
                page.stopping.set()
                page.join()
                viewer.send_signal(signal.SIGSTOP)
            before = step_and_cpu(folder, pid)
            time.sleep(seconds)
            after = step_and_cpu(folder, pid)
            steps = after[0] - before[0]
            return (after[2] - before[2]) / steps * 1e6, (after[1] - before[1]) / steps * 1e6
        finally:
            if page:
                page.stopping.set()
            if viewer:
                viewer.send_signal(signal.SIGCONT)
                viewer.send_signal(signal.SIGINT)
                viewer.wait(30)
                viewer.stdout.close()
            launch.send_signal(signal.SIGINT)
            try:
                launch.wait(60)
            except subprocess.TimeoutExpired:
                launch.kill()


def main():
    parser = argparse.ArgumentParser(description="What an attached viewer costs a training.")
    parser.add_argument("--build", default="build/bench", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--seconds", default=10, type=float)
    parser.add_argument("--stopped", action="store_true", help="suspend the viewer while it is measured")
    parser.add_argument("models", nargs="*", default=list(FILES), metavar="MODEL", help=" or ".join(FILES))
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    for model in arguments.models:
        alone, watched = [], []
        for _ in range(arguments.rounds):
            alone.append(measure(build, model, arguments.seconds, False, False))
            watched.append(measure(build, model, arguments.seconds, True, arguments.stopped))
        def median(values, i):
            return statistics.median(value[i] for value in values)

        print(json.dumps({"name": f"{model} with a {'stopped ' if arguments.stopped else ''}viewer",
                          "cpu_us_alone": round(median(alone, 0), 1), "cpu_us_watched": round(median(watched, 0), 1),
                          "cpu_ratio": round(median(watched, 0) / median(alone, 0), 4),
                          "step_us_alone": round(median(alone, 1), 1), "step_us_watched": round(median(watched, 1), 1),
                          "step_ratio": round(median(watched, 1) / median(alone, 1), 4)}), flush=True)


if __name__ == "__main__":
    main()
