// SPDX-License-Identifier: Apache-2.0
// A component for tests, like the plugin `tally`. It receives numbers and tensors, and checks that they arrive
// completely and in order.
import { mkdirSync, writeFileSync } from "node:fs";
import { Component, runMember, TrainyardError } from "../../../tools/clients/javascript/src/member/index.js";

class Tally extends Component {
  static description = "Counts and checks numbers; for tests.";
  static inputs = { ticks: { type: "ArenaBlock {\n  string name\n  Tensor data\n}\n", help: "numbers to count",
    method: "onTick" } };
  static outputs = { counts: { type: "Count {\n  u64 count\n  map<f64> values\n}\n", help: "how many have come" } };
  static parameters = {
    finish_after: { default: 0, kind: "integer", help: "end the run after so many; 0 = never", at_least: 0 },
    strict: { default: true, help: "fail when a number is missing" },
    slow_ms: { default: 0, help: "how long each takes", at_least: 0, unit: "ms", settable: true },
    factor: { default: 0.5, help: "a share", between: [0, 1], settable: true },
    kind: { default: "plain", help: "a word", one_of: ["plain", "kept"] },
    fail_at: { default: -1, kind: "integer", help: "throw an error at this number" },
    die_at: { default: -1, kind: "integer", help: "be killed at this number" },
    hang_at: { default: -1, kind: "integer", help: "be in one handler for ever at this number" },
  };
  static services = { add: { request: "AddRequest {\n  u64 number\n}\n", reply: "AddReply {\n  u64 total\n}\n",
    help: "Adds a number to the count, without sending." } };

  received = 0;
  kept = [];

  onConfigure() {
    const { TRAINYARD_RUN: name } = process.env;
    if (this.run !== name) throw new TrainyardError(`the full name of the run is '${name}', not '${this.run}'`);
  }

  onTick(tick) {
    const number = Number(tick.name);
    const { strict, fail_at, die_at, hang_at, slow_ms } = this.parameters;
    if (strict && number !== this.received) {
      throw new TrainyardError(`tick ${number} came when ${this.received} was due`);
    }
    if (tick.data.shape.length > 0) this.checkTensor(number, tick.data);
    if (number === fail_at) undefined["no such key"];
    if (number === die_at) process.kill(process.pid, "SIGKILL");
    while (number === hang_at);
    // Half of the messages are handled without a promise.
    return slow_ms > 0 ? new Promise((resolve) => { setTimeout(resolve, slow_ms); }).then(() => this.count()) : this.count();
  }

  checkTensor(number, tensor) {
    const bytes = tensor.view();
    if (bytes[0] !== number % 251 || bytes.at(-1) !== number % 251) {
      throw new TrainyardError(`tensor of tick ${number} holds ${bytes[0]} and ${bytes.at(-1)}`);
    }
    if (this.parameters.kind !== "kept") return;
    this.kept = [...this.kept.slice(-4), { number, tensor, array: tensor.array() }];
    for (const older of this.kept) {
      if (older.array.some((byte) => byte !== older.number % 251)) {
        throw new TrainyardError(`the copy of the tensor of tick ${older.number} was changed`);
      }
    }
  }

  count() {
    this.received += 1;
    this.outputs.counts.send({ count: this.received, values: new Map([["factor", this.parameters.factor]]) });
    if (this.received === this.parameters.finish_after) this.finishRun(`counted ${this.received}`);
  }

  onFactor(value) { this.log.info(`the factor is ${value}`); }

  add({ number }) {
    if (number === 13) throw new RangeError("13 is not wanted");
    return { total: this.received + number };
  }

  onFinalize() {
    mkdirSync(this.outputDirectory, { recursive: true });
    writeFileSync(`${this.outputDirectory}/${this.name}.count`, String(this.received));
  }
}

await runMember(Tally);
