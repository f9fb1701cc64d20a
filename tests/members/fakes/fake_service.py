# SPDX-License-Identifier: Apache-2.0
"""Stands for the server of a tracking service. The folder FAKE_SERVICE contains what was called, in calls.jsonl. While it
contains the file `down`, calls make the file `refused` and fail; while it contains the file `hang`, they do not return."""
import json
import os
import pathlib
import time

FOLDER = pathlib.Path(os.environ["FAKE_SERVICE"])


def call(name, /, **arguments):
    """Notes a call."""
    while (FOLDER / "hang").exists():
        time.sleep(0.01)
    if (FOLDER / "down").exists():
        (FOLDER / "refused").touch()
        raise ConnectionError("nobody listens\nat the address")
    with open(FOLDER / "calls.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({"call": name, **arguments}) + "\n")


def calls():
    """Returns all calls so far."""
    try:
        text = (FOLDER / "calls.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]
