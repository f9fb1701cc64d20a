# SPDX-License-Identifier: Apache-2.0
"""Imitates the server of a tracking service. The environment variable FAKE_SERVICE names a folder. Its file calls.jsonl
contains the calls that were made. While the folder contains the file `down`, calls create the file `refused` and fail;
while it contains the file `hang`, they do not return."""
import contextlib
import json
import os
import pathlib
import time

FOLDER = pathlib.Path(os.environ.get("FAKE_SERVICE", "."))


def call(name, /, **arguments):
    """Notes a call."""
    while (FOLDER / "hang").exists():
        time.sleep(0.01)
    if (FOLDER / "down").exists():
        (FOLDER / "refused").touch()
        raise ConnectionError("nobody listens\nat the address")
    with open(FOLDER / "calls.jsonl", "a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"call": name, **arguments}) + "\n")


def calls():
    """Returns all calls so far."""
    return read_calls(FOLDER)


def read_calls(folder):
    """Returns the calls that a folder contains. A process that was killed may have left half a line."""
    found = []
    try:
        lines = (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return found
    for line in lines:
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found
