// SPDX-License-Identifier: Apache-2.0
// A component for tests, like the plugin `ticker`. It sends the numbers 0, 1, 2, ... and, if its parameters request it,
// a tensor with each number.
import { Component, runMember, Tensor } from "../../../tools/clients/javascript/src/member/index.js";

class Ticker extends Component {
  static description = "Sends numbers; for tests.";
  static outputs = {
    ticks: { type: "ArenaBlock {\n  string name\n  Tensor data\n}\n", help: "numbers as text" },
    last: { type: "Last {\n  u64 number\n}\n", help: "the newest number", latched: true },
  };
  static parameters = {
    count: { default: 1000, kind: "integer", help: "how many; 0 = until it is stopped", at_least: 0 },
    tensor_bytes: { default: 0, kind: "integer", help: "size of the tensor sent along", at_least: 0 },
    fail_at: { default: -1, kind: "integer", help: "throw an error at this number" },
  };

  sent = 0;
  stopped = false;

  onActivate() {
    this.outputs.ticks.onReady(() => this.sendWhileReady());
    this.post(() => this.sendWhileReady());
  }

  onDeactivate() { this.stopped = true; }

  sendWhileReady() {
    const { count } = this.parameters;
    while (!this.stopped && this.outputs.ticks.ready() && (count === 0 || this.sent < count)) this.sendOne();
  }

  sendOne() {
    if (this.sent === this.parameters.fail_at) throw new RangeError("enough");
    const bytes = this.parameters.tensor_bytes;
    const data = bytes ? Tensor.from(new Uint8Array(bytes).fill(this.sent % 251)) : new Tensor("uint8", []);
    this.trace = BigInt(this.sent + 1);
    this.outputs.ticks.send({ name: String(this.sent), data });
    this.outputs.last.send({ number: this.sent });
    this.trace = 0n;
    this.sent += 1;
  }
}

await runMember(Ticker);
