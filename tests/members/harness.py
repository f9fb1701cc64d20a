# SPDX-License-Identifier: Apache-2.0
"""Launches runs with members, for tests."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tools" / "clients" / "python"))
import trainyard

PROGRAMS = SOURCES / "tests" / "members" / "programs"
TRAINYARD = os.environ.get("TRAINYARD_PROGRAM", "trainyard")
PYTHON = "/usr/bin/python3"
DEADLINE_S = 60


class MembersTest(unittest.TestCase):
    """Has a folder, in which all runs of the test happen, and ends what still runs after it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ty"))
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder),
                            "PYTHONPATH": str(SOURCES / "tools" / "clients" / "python"),
                            "PYTHONDONTWRITEBYTECODE": "1",
                            # Launch files say "python3"; another one in the path may lack pyzmq and numpy.
                            "PATH": "/usr/bin:" + os.environ.get("PATH", "")}
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)
        self.launches, self._run = [], None

    def tearDown(self):
        self.forget_run()
        for launch in self.launches:
            if launch.poll() is None:
                launch.terminate()
                try:
                    launch.wait(20)
                except subprocess.TimeoutExpired:
                    launch.kill()
            self.rest_of(launch)
        shutil.rmtree(self.folder, ignore_errors=True)

    def rest_of(self, launch):
        """Waits for a launch that is ending, and returns what it printed and nobody has read."""
        if launch.stdout.closed:
            launch.wait(DEADLINE_S)
            return ""
        return launch.communicate(timeout=DEADLINE_S)[0]

    def file(self, text, name="test.toml"):
        """Writes a launch file and returns its path. PROGRAMS stands for the folder with the members for tests."""
        path = self.folder / name
        path.write_text(text.replace("PYTHON", PYTHON).replace("PROGRAMS", str(PROGRAMS)))
        return str(path)

    def launch(self, path, *words):
        """Starts a launch and returns its process."""
        launch = subprocess.Popen([TRAINYARD, "launch", path, *words], cwd=self.folder, env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.launches.append(launch)
        return launch

    def finish(self, path, *words, code=0):
        """Launches, waits for the end, and returns what was printed."""
        launch = self.launch(path, *words)
        try:
            text, _ = launch.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.fail(f"the run did not end within {DEADLINE_S} s")
        self.assertEqual(launch.returncode, code, text)
        return text

    def trainyard(self, *words, code=0):
        """Runs another verb and returns what it printed."""
        done = subprocess.run([TRAINYARD, *words], cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE_S, check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def run_now(self):
        """Returns the running launch. Raises TrainyardError while there is none."""
        if self._run is None or not self._run.alive():
            self.forget_run()
            self._run = trainyard.find_run()
        return self._run

    def forget_run(self):
        if self._run is not None:
            self._run.close()
        self._run = None

    def nodes(self):
        """Returns the components of the running launch, by name; none while it cannot be asked."""
        try:
            return {node["component"]: node for node in self.run_now().request("nodes")}
        except trainyard.TrainyardError:
            return {}

    def wait_for(self, condition, what):
        deadline = time.monotonic() + DEADLINE_S
        while not (found := condition()):
            if time.monotonic() > deadline:
                for launch in self.launches:
                    launch.kill()
                    what += "\n" + self.rest_of(launch)
                self.fail(f"in vain: {what}")
            time.sleep(0.02)
        return found

    def wait_active(self, component):
        return self.wait_for(lambda: self.nodes().get(component, {}).get("state") == "active" and self.nodes()[component],
                             f"{component} is active")

    def counters(self, process):
        return self.run_now().request("call", process=process, method="counters")

    def call(self, target, method, body="{}"):
        return json.loads(self.trainyard("service", "call", target, method, body))

    def interrupt(self, launch):
        """Ends a launch like Ctrl-C, and returns what it printed."""
        launch.send_signal(signal.SIGINT)
        text, _ = launch.communicate(timeout=DEADLINE_S)
        self.assertNotIn("Traceback", text)
        self.assertIn(launch.returncode, (0, 130), text)
        return text
