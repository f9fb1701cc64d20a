#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a recording with a library for MCAP files, and compares the result with what was written.

    readers_test.py SAMPLE_PROGRAM python|node

The libraries are those of the interpreter TRAINYARD_MCAP_PYTHON (a Python with the package mcap) and of the folder
TRAINYARD_MCAP_NODE_MODULES (with @mcap/core and fzstd). Without them, the exit code is 77, which means skipped, unless
TRAINYARD_MCAP_REQUIRED is set.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def skip(why):
    print(why)
    sys.exit(1 if os.environ.get("TRAINYARD_MCAP_REQUIRED") else 77)


def reader(language):
    """The command that prints what is in the file whose name is appended."""
    if language == "python":
        python = os.environ.get("TRAINYARD_MCAP_PYTHON", sys.executable)
        if subprocess.run([python, "-c", "import mcap.reader"], stderr=subprocess.DEVNULL).returncode != 0:
            skip(f"{python} has no package mcap: the reader for Python is not tested")
        return [python, "-B", str(HERE / "read_with_python.py")]
    node = shutil.which("node")
    modules = os.environ.get("TRAINYARD_MCAP_NODE_MODULES", "")
    if node is None or not (pathlib.Path(modules) / "@mcap" / "core").is_dir():
        skip("there is no node, or no package @mcap/core for it: the reader for JavaScript is not tested")
    os.environ["NODE_PATH"] = modules
    return [node, str(HERE / "read_with_node.cjs")]


def main():
    program, language = sys.argv[1:]
    command = reader(language)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        expected = [json.loads(line) for line in open(f"{folder}/expected.jsonl", encoding="utf-8")]
        output = subprocess.run(command + [f"{folder}/sample.mcap"], check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    summary, found = lines[0], lines[1:]
    assert summary["messages"] == len(expected), summary
    assert summary["metadata"] == ["trainyard.counts", "trainyard.run"], summary
    # The message itself is compared in this program, because JavaScript keeps only 53 bits of a number.
    for line in found:
        line["message"] = json.loads(line["message"])
    assert len(found) == len(expected), f"{len(found)} messages were read, {len(expected)} were written"
    for read, written in zip(found, expected):
        assert read == written, f"{read}\nwas read, and written was\n{written}"
    for name, schema in summary["schemas"].items():
        assert schema["title"] == name and schema["type"] == "object", schema
    print(f"{language}: {len(found)} messages of {len(summary['schemas'])} types")


if __name__ == "__main__":
    main()
