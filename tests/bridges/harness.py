# SPDX-License-Identifier: Apache-2.0
"""Real training runs with a bridge, for the tests of bridges. Needs TRAINYARD_PROGRAM and TRAINYARD_PLUGIN_PATH."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["TRAINYARD_PROGRAM"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
LAUNCH = f"""
include = ["{SOURCE}/launch/files/standard.toml"]
[run]
name = "bridged"
directory = "out"
max_steps = 1_000_000_000
validate_every_epochs = 0
[component.data_loader.params]
dataset = {{ plugin = "synthetic", features = 16, classes = 4, samples = 1000 }}
batch_size = 16
[component.accelerator_host.params]
accelerator = {{ plugin = "cpu", threads = "1" }}
model = {{ plugin = "mlp", hidden = [16] }}
log_every_steps = 10
[component.optimizer.params]
lr = 0.001
[component.logger.params]
console = "off"
tensorboard = false
"""


def eventually(done, seconds=90):
    """The first result of `done` that is true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        result = done()
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class BridgeTest(unittest.TestCase):
    """Launches a run with a bridge in a folder of its own, and ends it after the test."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.temporary.name, OPENBLAS_NUM_THREADS="1")
        self.runs = []

    def tearDown(self):
        for run in self.runs:
            if run.poll() is None:
                run.send_signal(signal.SIGINT)
                try:
                    run.wait(60)
                except subprocess.TimeoutExpired:
                    run.kill()
                    run.wait()
        self.temporary.cleanup()

    def launch(self, bridge):
        """Starts a run with these lines at the end of its launch file, and waits until it trains."""
        (self.folder / "bridged.toml").write_text(LAUNCH + bridge, encoding="utf-8")
        with open(self.folder / "output", "w", encoding="utf-8") as output:
            run = subprocess.Popen([PROGRAM, "launch", "bridged.toml"], cwd=self.folder, env=self.environment,
                                   stdout=output, stderr=output)
        self.runs.append(run)
        eventually(lambda: self.step() > 0 or self.assertIsNone(run.poll(), self.output()))
        return run

    def output(self):
        return (self.folder / "output").read_text(encoding="utf-8")

    def step(self):
        """The last step that the logger has written."""
        path = self.folder / "out/metrics.jsonl"
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
        return next((json.loads(line)["step"] for line in reversed(lines) if '"kind":"metrics"' in line), 0)

    def command(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=self.environment, timeout=60, check=True,
                              capture_output=True, text=True)
        return done.stdout

    def pid_of(self, component):
        """The process of a component, or 0 while it does not run."""
        nodes = json.loads(self.command("node", "list", "--json"))
        return next(node["pid"] for node in nodes if node["component"] == component)
