#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A logger in Python, in place of the standard logger. It prints the metrics, and writes all messages that it receives
to metrics.jsonl."""
import json
import os

import trainyard


class Logger(trainyard.Component):
    """Prints metrics and writes metrics.jsonl."""

    metrics = trainyard.Input("/metrics", "Metrics", "the metrics of the run", window_messages=4096)
    model = trainyard.Input("/model", "ModelInfo", "the model that is trained", optional=True)
    checkpoints = trainyard.Input("/checkpoints", "CheckpointDone", "what was saved", optional=True)
    records = trainyard.Input("/log", "LogRecord", "log records of all components", optional=True, name="log")

    every_steps = trainyard.Parameter(1, "print the metrics of every n-th training step", positive=True, settable=True)

    def on_configure(self):
        os.makedirs(self.output_directory, exist_ok=True)
        self.file = open(os.path.join(self.output_directory, "metrics.jsonl"), "a", encoding="utf-8")

    @metrics.handler
    def on_metrics(self, message):
        self.write("metrics", message)
        if message["stage"] != "train" or message["step"] % self.every_steps == 0:
            values = "  ".join(f"{value['name']} {value['value']:.6g}" for value in message["values"])
            print(f"{message['stage']}  step {message['step']}  {values}", flush=True)

    @model.handler
    def on_model(self, message):
        self.write("model", message)

    @checkpoints.handler
    def on_checkpoint(self, message):
        self.write("checkpoint", message)

    @records.handler
    def on_record(self, message):
        self.write("log", message)

    def write(self, kind, message):
        json.dump({"kind": kind, **message}, self.file)
        self.file.write("\n")

    @trainyard.service
    def flush(self, request):
        """Writes buffered lines to disk."""
        self.file.flush()

    def on_deactivate(self):
        self.file.flush()

    def on_finalize(self):
        self.file.close()


trainyard.run_member(Logger)
