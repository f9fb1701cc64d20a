# SPDX-License-Identifier: Apache-2.0
"""Collects the output of `trainyard doctor --environment` from every process that an engine starts."""
import os
import pathlib

PROGRAM = os.environ.get("TRAINYARD_PROGRAM", "trainyard")
BUILD = os.environ.get("TRAINYARD_BUILD", "")


def findings(text):
    """What doctor prints, by the name of the finding."""
    return {line[5:22].strip(): line[22:].rstrip() for line in text.splitlines() if line.strip()}


class Doctor:
    """A command for an engine. Each of its processes writes the output of doctor into a file in a folder that all hosts
    share."""

    def __init__(self, lab, name):
        self.folder = lab.shared / name
        self.folder.mkdir()
        # mktemp, because not every engine gives its processes a number that is known here.
        self.command = ["sh", "-c", f"{PROGRAM} doctor --environment > $(mktemp /mnt/{name}/XXXXXXXX) 2>&1"]

    def answers(self):
        """The findings of every process."""
        return [findings(path.read_text()) for path in sorted(self.folder.iterdir())]

    def table(self, *names):
        """The values of these findings in every process, sorted."""
        return sorted(tuple(answer.get(name, answer.get("environment", "")) for name in names) for answer in self.answers())


def visible():
    """The folders that the hosts must see."""
    return [BUILD] if BUILD else [pathlib.Path(PROGRAM).resolve().parent]
