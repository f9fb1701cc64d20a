#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the loss of a training run in a terminal, and shows how many messages its topics carry per second. See
README.md."""
import collections
import shutil
import sys
import time

import trainyard

BARS = " ▁▂▃▄▅▆▇█"


def curve(values, width, height=8):
    """Returns a bar chart as lines of text. Each bar is the mean of the same number of consecutive values."""
    size = -(-len(values) // width)
    shown = [sum(values[at:at + size]) / len(values[at:at + size]) for at in range(0, len(values), size)]
    low, high = min(shown), max(shown)
    levels = [(value - low) / ((high - low) or 1) * height * 8 for value in shown]
    lines = ["".join(BARS[int(min(max(level - row * 8, 0), 8))] for level in levels) for row in reversed(range(height))]
    return [f"loss {values[-1]:.4g}; means of {size} reports: {low:.4g} to {high:.4g}", *lines]


def main():
    run = trainyard.find_run(sys.argv[1] if len(sys.argv) > 1 else None)
    losses, counts, drawn = [], collections.Counter(), time.monotonic()
    # With the policy "latest", a program that falls behind receives the newest message next, not the oldest.
    with run.subscribe(["/metrics", "/orders", "/log"], timeout=None, policy="latest") as messages:
        for header, message in messages:
            counts[header.topic] += 1
            if header.topic == "/metrics" and message["stage"] == "train":
                losses.extend(value["value"] for value in message["values"] if value["name"] == "loss")
            if losses and (elapsed := time.monotonic() - drawn) > 0.5:
                rates = "  ".join(f"{topic} {count / elapsed:.0f}/s" for topic, count in sorted(counts.items()))
                text = "\n".join([f"{run.run} ({run.file})  {rates}", *curve(losses, shutil.get_terminal_size().columns)])
                print(("\x1b[H\x1b[J" if sys.stdout.isatty() else "") + text, flush=True)
                counts.clear()
                drawn = time.monotonic()
    print(f"the run has ended: {messages.received} messages received, {messages.missed} missed")


if __name__ == "__main__":
    try:
        main()
    except trainyard.TrainyardError as error:
        sys.exit(f"dashboard: {error}")
    except KeyboardInterrupt:
        pass
