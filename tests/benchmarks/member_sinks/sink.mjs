// SPDX-License-Identifier: Apache-2.0
// A sink for tests/benchmarks/members.py: it decodes every message, and reads every byte of the tensors.
import { Component, runMember } from "../../../tools/clients/javascript/src/member/index.js";

class Sink extends Component {
  static description = "Reads everything.";
  static inputs = { ticks: { type: "ArenaBlock {\n  string name\n  Tensor data\n}\n",
    method: "onTick" } };

  sum = 0;

  onTick(tick) {
    if (tick.data.shape.length === 0) return;
    const bytes = tick.data.view();
    const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    let sum = 0;
    for (let i = 0; i < numbers.length; ++i) sum += numbers[i];
    this.sum += sum;
  }
}

await runMember(Sink);
