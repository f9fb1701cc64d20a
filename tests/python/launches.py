# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests in Python that launch real runs. The environment variable TRAINYARD_PROGRAM contains the path of
`trainyard`, and TRAINYARD_PLUGIN_PATH the folders with plugins."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
TRAINYARD = os.environ.get("TRAINYARD_PROGRAM", "trainyard")
#: What tests wait for takes a few seconds. Only a machine that does a lot besides needs more.
DEADLINE_S = 180
#: A launch is as patient as the tests.
PATIENT = ("start_timeout_s=120", "stop_timeout_s=60")
#: A training that outlasts every test, so that what a test waits for comes, however slow the machine is.
TRAINING = """
include = ["standard.toml"]
[run]
name = "seen"
directory = "out"
max_steps = 1_000_000_000
validate_every_epochs = 0
[component.data_loader.params]
dataset = { plugin = "synthetic", features = 16, classes = 4, samples = 1000 }
batch_size = 16
[component.accelerator_host.params]
accelerator = { plugin = "cpu", threads = "1" }
model = { plugin = "mlp", hidden = [16] }
log_every_steps = 1
[component.optimizer.params]
lr = 0.001
[component.logger.params]
console = "off"
tensorboard = false
"""
EVERY_TENTH_STEP = "component.accelerator_host.params.log_every_steps=10"


def free_port():
    """A port of this host that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program(subprocess.Popen):
    """A program whose output goes to a file, so that it never waits for a reader."""

    def __init__(self, words, output, **options):
        self.output = output
        with open(output, "w", encoding="utf-8") as file:
            super().__init__(words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, **options)

    def said(self):
        """What it has printed so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def end(self, *signals):
        """Sends the signals, waits for the end of the program, and returns what it has printed."""
        for one in signals:
            self.send_signal(one)
        try:
            self.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.args} did not end within {DEADLINE_S} s. It said:\n{self.said()}") from None
        return self.said()


class LaunchTest(unittest.TestCase):
    """A test case with a temporary folder for its launches. After each test, it ends all processes that are still
    running."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ty"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.programs = []
        self.addCleanup(self.end_all)
        # This process is a visitor, too.
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)
        os.environ.pop("TRAINYARD_RUN_DIRECTORY", None)
        self.environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}

    def end_all(self):
        for program in self.programs:
            program.send_signal(signal.SIGINT)
        for program in self.programs:
            try:
                program.wait(30)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()

    def program(self, *words):
        """Starts a program in the folder."""
        output = self.folder / f"output{len(self.programs)}"
        self.programs.append(Program([str(word) for word in words], output, cwd=self.folder, env=self.environment))
        return self.programs[-1]

    def launch(self, path, *words):
        return self.program(TRAINYARD, "launch", path, *PATIENT, *words)

    def finish(self, path, *words, code=0):
        """Launches, waits for the end, and returns what was printed."""
        launch = self.launch(path, *words)
        text = launch.end()
        self.assertEqual(launch.returncode, code, text)
        return text

    def completed(self, *words):
        """Runs a program and returns its exit code, output and errors."""
        return subprocess.run([str(word) for word in words], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=DEADLINE_S, check=False)

    def trainyard(self, *words, code=0):
        """Runs another verb and returns its output, with its errors if it is to fail."""
        done = self.completed(TRAINYARD, *words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr if code else done.stdout

    def wait_for(self, condition, what="a condition", seconds=DEADLINE_S):
        """Returns the first result that is true. Fails at the deadline, and earlier if every program has ended: what they
        have left behind does not live long."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if all(program.poll() is not None for program in self.programs):
                deadline = min(deadline, time.monotonic() + 20)
            if time.monotonic() > deadline:
                said = "".join(f"\n{program.args} said:\n{program.said()}" for program in self.programs)
                self.fail(f"in vain: {what}{said}")
            time.sleep(0.02)
        return found


class TrainingTest(LaunchTest):
    """A test case that trains, and reads the files that the logger has written."""

    def train(self, *words, more=""):
        """Launches TRAINING, with more lines at its end, and waits until it trains."""
        (self.folder / "seen.toml").write_text(TRAINING + more, encoding="utf-8")
        launch = self.launch("seen.toml", *words)
        self.wait_for(lambda: self.written() >= 10, "training")
        return launch

    def _lines(self):
        # The last line may still lack its end.
        path = self.folder / "out" / "metrics.jsonl"
        return path.read_text(encoding="utf-8").rpartition("\n")[0] if path.exists() else ""

    def written(self):
        """How many lines with metrics there are."""
        return self._lines().count('"kind":"metrics"')

    def step(self):
        """The last step that was written."""
        lines = reversed(self._lines().split("\n"))
        return json.loads(next(line for line in lines if '"kind":"metrics"' in line))["step"]

    def pid_of(self, component):
        """The process of a component, or 0 while it does not run."""
        nodes = json.loads(self.trainyard("node", "list", "--json"))
        return next(node["pid"] for node in nodes if node["component"] == component)
