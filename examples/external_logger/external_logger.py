#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attaches to a training run and prints its metrics: one line for each report and each evaluation. See README.md."""
import signal
import sys


def on_stop(action):
    """Sets the handler for the signals that end the program. At the end of a run, the launcher sends SIGINT and, two
    seconds later, SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, action)


def stop(*_):
    """Ends the program without a traceback, wherever it is. Further signals are ignored, so that they do not interrupt
    the end."""
    on_stop(signal.SIG_IGN)
    sys.exit(0)


on_stop(stop)  # This comes before the other imports, because a signal may arrive while they are still being loaded.

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
