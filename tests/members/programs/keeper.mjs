// SPDX-License-Identifier: Apache-2.0
// A component with state, for tests: like the plugin `contract_keeper` and keeper.py.
import { isDeepStrictEqual } from "node:util";
import { Component, runMember, Tensor, TrainyardError } from "../../../tools/clients/javascript/src/member/index.js";

const LARGE = BigInt64Array.from({ length: 100_000 }, (_, i) => BigInt(i));

class Keeper extends Component {
  static description = "Keeps state of every kind; for tests.";
  static perRank = true;
  static inputs = { orders: { topic: "/orders", type: "Order", help: "not looked at" } };

  checkpoints = 0;

  onOrders() {}

  saveState(into) {
    this.checkpoints += 1;
    into.set("checkpoints", this.checkpoints);
    into.set("best", -Infinity);
    into.set("loss", 0.1);
    into.set("word", "ä\n");
    into.set("done", true);
    into.set("list", [1, [2.5, "x"]]);
    into.set("small", Float32Array.of(1.5, -2, NaN));
    into.set("large", Tensor.from(LARGE, [100, 1000]));
    into.set("name", this.name, { perRank: true });
  }

  restoreState(saved) {
    this.checkpoints = saved.get("checkpoints");
    const small = saved.get("small");
    const large = saved.get("large");
    const right = [saved.number("best") === -Infinity, saved.number("loss") === 0.1, saved.get("word") === "ä\n",
      saved.get("done") === true, isDeepStrictEqual(saved.get("list"), [1, [2.5, "x"]]), small.dtype === "float32",
      isDeepStrictEqual(small.array(), Float32Array.of(1.5, -2, NaN)), isDeepStrictEqual(large.shape, [100, 1000]),
      isDeepStrictEqual(large.array(), LARGE), !saved.has("nothing"), saved.get("name") === this.name];
    if (!right.every(Boolean)) throw new TrainyardError(`something else was restored: ${right}`);
    this.log.info(`was in ${this.checkpoints} checkpoints, the last at step ${saved.step}`);
  }
}

await runMember(Keeper);
