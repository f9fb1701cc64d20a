# SPDX-License-Identifier: Apache-2.0
"""Launches runs with members, for tests."""
import json
import os
import pathlib
import signal
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from launches import DEADLINE_S, SOURCES, TRAINYARD, LaunchTest  # noqa: F401

CLIENT = SOURCES / "tools" / "clients" / "python"
sys.path.insert(0, str(CLIENT))
import trainyard

PROGRAMS = SOURCES / "tests" / "members" / "programs"
PYTHON = "/usr/bin/python3"


class MembersTest(LaunchTest):
    """Launches runs with members, and asks their registries."""

    def setUp(self):
        super().setUp()
        self.environment.update(PYTHONPATH=str(CLIENT), PYTHONDONTWRITEBYTECODE="1",
                                # Launch files say "python3"; another one in the path may lack pyzmq and numpy.
                                PATH="/usr/bin:" + os.environ.get("PATH", ""))
        self._run = None
        self.addCleanup(self.forget_run)

    def file(self, text, name="test.toml"):
        """Writes a launch file and returns its path. PROGRAMS stands for the folder with the members for tests."""
        path = self.folder / name
        path.write_text(text.replace("PYTHON", PYTHON).replace("PROGRAMS", str(PROGRAMS)))
        return str(path)

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

    def wait_active(self, component):
        return self.wait_for(lambda: (node := self.nodes().get(component, {})).get("state") == "active" and node,
                             f"{component} is active")

    def counters(self, process):
        return self.run_now().request("call", process=process, method="counters")

    def call(self, target, method, body="{}"):
        return json.loads(self.trainyard("service", "call", target, method, body))

    def interrupt(self, launch):
        """Ends a launch like Ctrl-C, and returns what it printed."""
        text = launch.end(signal.SIGINT)
        self.assertNotIn("Traceback", text)
        self.assertIn(launch.returncode, (0, 130), text)
        return text
