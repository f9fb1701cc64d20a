#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes trainyard/member/schemas.txt: the schema texts of all message types of the standard components.

    member_types.py TRAINYARD           TRAINYARD is the path of the command
    member_types.py TRAINYARD --check   only says whether the file is as it should be
"""
import json
import pathlib
import subprocess
import sys

FILE = pathlib.Path(__file__).resolve().parent / "trainyard" / "member" / "schemas.txt"
COMPONENTS = ("accelerator_host", "checkpoint_writer", "data_loader", "logger", "optimizer", "strategy_manager")


def main():
    schemas = {}
    for component in COMPONENTS:
        answer = subprocess.run([sys.argv[1], "plugin", "info", component, "--json"], check=True, capture_output=True)
        info = json.loads(answer.stdout)
        info = info[0] if isinstance(info, list) else info
        for port in info["inputs"] + info["outputs"]:
            schemas[port["type"]] = port["schema"]
    text = "\n".join(schemas[name] for name in sorted(schemas))
    if "--check" in sys.argv:
        if FILE.read_text() != text:
            sys.exit(f"{FILE} is not up to date: run tools/clients/python/member_types.py with the path of trainyard")
        return
    FILE.write_text(text)


if __name__ == "__main__":
    main()
