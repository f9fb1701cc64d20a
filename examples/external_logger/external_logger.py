#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a training run reports, from outside of it: one line per step, one per evaluation. See README.md."""
import signal
import sys


def on_stop(action):
    """Sets what happens when the program is asked to end. A launcher does so with SIGINT and, later, SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, action)


def stop(*_):
    """Ends the program without a traceback, wherever it is. The second signal must not disturb the end."""
    on_stop(signal.SIG_IGN)
    sys.exit(0)


on_stop(stop)  # Before the other imports, because a run may end while they are under way.

import pathlib
import time

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
        with run.subscribe("/metrics", timeout=None) as subscription:
            for _, metrics in subscription:
                if metrics["values"]:
                    lines += 1
                    print(line(metrics), flush=True)
        end = "the run has ended"
    except trainyard.TrainyardError as error:
        end = None
        sys.exit(f"external_logger: {error}")
    finally:
        on_stop(signal.SIG_IGN)
        if end:
            print(f"{end}: {lines} lines in {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
