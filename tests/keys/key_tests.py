# SPDX-License-Identifier: Apache-2.0
"""Two users with keys, for tests: a user on the host of the runs, and a user on another host. In fact, both are the
user who runs the test, with separate folders for keys."""
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from launches import DEADLINE_S, TRAINYARD, TrainingTest, free_port


class KeyTest(TrainingTest):
    def setUp(self):
        super().setUp()
        self.here = self.folder / "here"
        self.there = self.folder / "there"
        self.environment["XDG_CONFIG_HOME"] = str(self.here)

    def on_other_host(self, *words, code=0, home=None, seconds=DEADLINE_S):
        """Runs a verb with the keys of the other host, where this run's sockets are unknown."""
        environment = {**self.environment, "XDG_CONFIG_HOME": str(home or self.there),
                       "XDG_RUNTIME_DIR": str(self.folder / "elsewhere")}
        os.makedirs(environment["XDG_RUNTIME_DIR"], exist_ok=True)
        done = subprocess.run([TRAINYARD, *map(str, words)], cwd=self.folder, env=environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def exchange(self, *visitors):
        """Makes the host's key, and a key for each visitor (name, role); each host learns the keys of the other."""
        self.trainyard("keys", "new", "host", "--role", "member")
        line = self.trainyard("keys", "show", "host").strip()
        self.on_other_host("keys", "add", line, "--name", "127.0.0.1")
        for name, role in visitors:
            self.on_other_host("keys", "new", name, "--role", role)
            self.trainyard("keys", "add", self.on_other_host("keys", "show", name).strip())

    def train_with_door(self, names, *words, more=""):
        """Trains with a front door that admits these keys. Returns the launch."""
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        visitors = ", ".join(f'"{name}"' for name in names)
        return self.train(*words, more=(f'[component.front_door]\nplugin = "front_door"\nparams.port = {self.port}\n'
                                        f"params.visitors = [{visitors}]\n" + more))
