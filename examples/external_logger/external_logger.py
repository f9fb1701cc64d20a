#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a training run reports, from outside of it: one line per step, one per evaluation. See README.md."""
import pathlib
import signal
import sys
import time


def stop(*_):
    """Ends the program without a traceback, wherever it is. A launcher sends SIGINT and later SIGTERM to the programs
    of its launch file, and the second must not disturb the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(0)


for one in (signal.SIGINT, signal.SIGTERM):
    signal.signal(one, stop)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/clients/python"))
try:
    import trainyard
except ImportError as error:
    sys.exit(f"external_logger: {error}; it needs pyzmq (Debian: apt install python3-zmq)")


def line(metrics):
    """Returns the line for a message, such as "train  step 120/2000  epoch 1  loss 0.2131  accuracy 0.94"."""
    total = f"/{metrics['total_steps']}" if metrics["total_steps"] else ""
    values = [f"{value['name']} {value['value']:.4g}" for value in metrics["values"]]
    return "  ".join([f"{metrics['stage']}  step {metrics['step']}{total}  epoch {metrics['epoch']}", *values])


def main():
    lines, began, end = 0, time.monotonic(), "stopped"
    try:
        run = trainyard.find_run(sys.argv[1] if len(sys.argv) > 1 else None)
        print(f"attached to {run.run} ({run.file})", flush=True)
        for _, metrics in run.subscribe("/metrics", timeout=None):
            if metrics["values"]:
                lines += 1
                print(line(metrics), flush=True)
        end = "the run has ended"
    except trainyard.TrainyardError as error:
        end = None
        sys.exit(f"external_logger: {error}")
    finally:
        if end:
            print(f"{end}: {lines} lines in {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
