#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the spans of a training run, writes them in both formats for Perfetto, and compares the two files by means of
Perfetto's own schema.

    readers_test.py TRAINYARD_PROGRAM

The interpreter TRAINYARD_PERFETTO_PYTHON needs the package perfetto. Without it, the exit code is 77, which means
skipped, unless TRAINYARD_PERFETTO_REQUIRED is set.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DEADLINE = 60  # In seconds; nothing here takes more than a few.
ENOUGH_BYTES = 200_000  # Of the recording: some hundred steps.
LAUNCH = f"""
include = ["{HERE.parents[1]}/launch/files/standard.toml"]
[run]
name = "spans"
directory = "out"
max_steps = 1_000_000_000
[topology]
devices = 2
[component.data_loader.params]
dataset = {{ plugin = "synthetic", features = 32, classes = 10, samples = 10_000 }}
batch_size = 16
[component.accelerator_host.params]
accelerator = {{ plugin = "cpu", threads = "1" }}
model = {{ plugin = "mlp", hidden = [16] }}
"""


def until(condition, program, what):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        if program.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"{what}; exit code {program.poll()}")
        time.sleep(0.02)


def record(trainyard, folder):
    """Returns when the file spans.mcap in the folder contains the spans of a run of two ranks."""
    (folder / "spans.toml").write_text(LAUNCH, encoding="utf-8")
    launch = subprocess.Popen([trainyard, "launch", "spans.toml", "placement=processes"], cwd=folder,
                              stdout=subprocess.DEVNULL)
    try:
        listed = [trainyard, "topic", "list"]
        until(lambda: b"/metrics" in subprocess.run(listed, capture_output=True).stdout, launch, "no run appeared")
        recording = subprocess.Popen([trainyard, "bag", "record", "/spans", "-o", "spans.mcap"], cwd=folder)
        file = folder / "spans.mcap"
        until(lambda: file.exists() and file.stat().st_size > ENOUGH_BYTES, recording, "too little was recorded")
        recording.send_signal(signal.SIGINT)
        assert recording.wait(DEADLINE) == 0
    finally:
        launch.send_signal(signal.SIGINT)
        launch.wait(DEADLINE)


def main():
    python = os.environ.get("TRAINYARD_PERFETTO_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import perfetto.protos"], stderr=subprocess.DEVNULL).returncode != 0:
        print(f"{python} has no package perfetto: the traces are not held against Perfetto's schema")
        sys.exit(1 if os.environ.get("TRAINYARD_PERFETTO_REQUIRED") else 77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["XDG_RUNTIME_DIR"] = name
        record(sys.argv[1], folder)
        for output in ("run.pftrace", "run.json"):
            subprocess.run([sys.argv[1], "bag", "convert", "spans.mcap", "--perfetto", output], cwd=folder, check=True)
        subprocess.run([python, "-B", str(HERE / "read_with_perfetto.py"), "run.pftrace", "run.json"], cwd=folder,
                       check=True)


if __name__ == "__main__":
    main()
