#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads an event file of the logger with TensorBoard, and compares the result with what was written.

    readers_test.py SAMPLE_PROGRAM

The interpreter TRAINYARD_TENSORBOARD_PYTHON needs the package tensorboard. Without it, the exit code is 77, which means
skipped, unless TRAINYARD_TENSORBOARD_REQUIRED is set.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    python = os.environ.get("TRAINYARD_TENSORBOARD_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import tensorboard"], stderr=subprocess.DEVNULL).returncode != 0:
        print(f"{python} has no package tensorboard: the event files are not tested with TensorBoard")
        sys.exit(1 if os.environ.get("TRAINYARD_TENSORBOARD_REQUIRED") else 77)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        subprocess.run([python, "-B", str(HERE / "read_with_tensorboard.py"), folder], check=True)


if __name__ == "__main__":
    main()
