#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// A logger in JavaScript, in place of the standard logger. It prints the metrics, and writes all messages that it
// receives to metrics.jsonl.
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Component, runMember } from "trainyard/member";

/** Returns a message as one line of JSON. Maps become objects, and 64-bit integers become numbers if they fit. */
function toJson(value) {
  return JSON.stringify(value, (_, part) => {
    if (part instanceof Map) return Object.fromEntries(part);
    return typeof part === "bigint" ? Number(part) : part;
  });
}

class Logger extends Component {
  static description = "Prints metrics and writes metrics.jsonl.";
  static inputs = {
    metrics: { topic: "/metrics", type: "Metrics", help: "the metrics of the run", window_messages: 4096 },
    model: { topic: "/model", type: "ModelInfo", help: "the model that is trained", optional: true },
    checkpoints: { topic: "/checkpoints", type: "CheckpointDone", help: "what was saved", optional: true },
    log: { topic: "/log", type: "LogRecord", help: "log records of all components", optional: true },
  };
  static parameters = {
    every_steps: { default: 1, kind: "integer", at_least: 1, settable: true,
      help: "print the metrics of every n-th training step" },
  };
  static services = { flush: { help: "Writes to disk what is in memory." } };

  lines = [];

  onConfigure() {
    mkdirSync(this.outputDirectory, { recursive: true });
    this.file = openSync(join(this.outputDirectory, "metrics.jsonl"), "a");
  }

  onMetrics(message) {
    this.write("metrics", message);
    const { stage, step, values } = message;
    if (stage === "train" && step % BigInt(this.parameters.every_steps) !== 0n) return;
    console.log(`${stage}  step ${step}  ${values.map(({ name, value }) => `${name} ${value.toPrecision(6)}`).join("  ")}`);
  }

  onModel(message) { this.write("model", message); }
  onCheckpoints(message) { this.write("checkpoint", message); }
  onLog(message) { this.write("log", message); }

  write(kind, message) {
    this.lines.push(`${toJson({ kind, ...message })}\n`);
    if (this.lines.length >= 64) this.flush();
  }

  flush() {
    writeSync(this.file, this.lines.join(""));
    this.lines = [];
  }

  onDeactivate() { this.flush(); }

  onFinalize() {
    this.flush();
    closeSync(this.file);
  }
}

await runMember(Logger);
