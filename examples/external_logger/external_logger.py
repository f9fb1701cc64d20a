#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a training run reports, from outside of it: one line per step, one per evaluation. See README.md."""
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/clients/python"))
import trainyard  # noqa: E402


def line(metrics):
    """"train  step 120/2000  epoch 1  loss 0.2131  accuracy 0.94"; values that nobody knows how to read stay out."""
    total = f"/{metrics['total_steps']}" if metrics["total_steps"] else ""
    values = [f"{value['name']} {value['value']:.4g}" for value in metrics["values"]]
    return "  ".join([f"{metrics['stage']}  step {metrics['step']}{total}  epoch {metrics['epoch']}", *values])


def main():
    # A launch file's program is stopped by SIGINT, then SIGTERM; both end it in the same way.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    lines, began = 0, time.monotonic()
    try:
        run = trainyard.find_run(sys.argv[1] if len(sys.argv) > 1 else None)
        print(f"attached to {run.run} ({run.file})", flush=True)
        for _, metrics in run.subscribe("/metrics", timeout=None):
            if metrics["values"]:
                lines += 1
                print(line(metrics), flush=True)
        print("the run has ended", end=": ")
    except KeyboardInterrupt:
        print("stopped", end=": ")
    except trainyard.TrainyardError as error:
        sys.exit(f"external_logger: {error}")
    print(f"{lines} lines in {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
