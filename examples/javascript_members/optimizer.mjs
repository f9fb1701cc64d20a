#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// AdamW in JavaScript, in place of the standard optimizer. In every step it copies the gradients and the parameters
// from shared memory (the arena), and writes them back. In the precision 32-true, the losses are bit-identical to those
// with the standard optimizer.
import { Component, runMember, TrainyardError } from "trainyard/member";

const { fround, sqrt } = Math;

/** A copy of the numbers in a block of the arena, which read() and write() copy from and to the arena. */
class Block {
  constructor(tensor) {
    this.tensor = tensor;
    this.values = new Float32Array(tensor.size);
    this.bytes = new Uint8Array(this.values.buffer);
  }

  read() { this.tensor.readInto(this.bytes); }
  write() { this.tensor.write(this.bytes); }
}

class Optimizer extends Component {
  static description = "AdamW over the arena.";
  static perRank = true;
  static restartable = false;
  static inputs = {
    arena: { type: "ArenaInfo", help: "the blocks to work on" },
    gradients: { type: "Gradients", help: "the gradients are complete" },
    run_state: { topic: "/run_state", type: "RunState", help: "the step at which a resumed run continues", optional: true },
  };
  static outputs = {
    parameters: { type: "Parameters", help: "the arena holds the parameters after this step" },
    optimizer_state: { type: "OptimizerState", help: "blocks for the checkpoint writer; there are none" },
  };
  static parameters = {
    lr: { default: 1e-3, help: "learning rate", at_least: 0, settable: true },
    weight_decay: { default: 1e-2, help: "weight decay", at_least: 0 },
    beta1: { default: 0.9, help: "decay of the average of the gradients", between: [0, 1] },
    beta2: { default: 0.999, help: "decay of the average of their squares", between: [0, 1] },
    eps: { default: 1e-8, help: "added to the denominator", positive: true },
  };

  waiting = null;
  blocks = null;
  step = null;
  mean = null;
  square = null;

  onConfigure() {
    // If the run has a checkpoint writer, its message RunState contains the step at which the run begins. Otherwise the
    // run begins at step 0.
    if (this.inputs.run_state.connections === 0) this.step = 0n;
  }

  onArena(arena) {
    const { lr, beta1, beta2, eps, weight_decay } = this.parameters;
    const find = (name) => arena.blocks.find((block) => block.name === name).data;
    const { dtype, byteLength } = find("parameters");
    if (dtype !== "float32" || byteLength < arena.parameter_bytes || arena.shared_state) {
      throw new TrainyardError("this optimizer takes float32, and a strategy in which each rank has all parameters");
    }
    this.perRankState = arena.own_state;
    this.blocks = { parameters: new Block(find("parameters")), gradients: new Block(find("gradients")) };
    const count = find("parameters").size;
    this.mean ??= new Float32Array(count);
    this.square ??= new Float32Array(count);
    // The checkpoint writer cannot read the memory of this process, so saveState() passes the averages to it.
    this.outputs.optimizer_state.send({ rank: this.rank, rule: "adamw", blocks: [],
      hyperparameters: new Map(Object.entries({ lr, beta1, beta2, eps, weight_decay })),
      on_device: false, device_blocks: [] });
    this.outputs.parameters.send({ step: 0, learning_rate: 0 });
    this.updateIfComplete();
  }

  saveState(into) {
    into.set("exp_avg", this.mean, { perRank: this.perRankState });
    into.set("exp_avg_sq", this.square, { perRank: this.perRankState });
  }

  restoreState(saved) {
    this.mean = saved.get("exp_avg").array();
    this.square = saved.get("exp_avg_sq").array();
  }

  onRunState(state) {
    this.step = state.step;
    this.takeSettings(state.settings);
    this.updateIfComplete();
  }

  onGradients(gradients) {
    this.waiting = gradients;
    this.updateIfComplete();
  }

  updateIfComplete() {
    if (this.waiting === null || this.step === null || this.blocks === null) return;
    const { step, scale } = this.waiting;
    this.waiting = null;
    if (step !== this.step + 1n) throw new TrainyardError(`gradients of step ${step} came after step ${this.step}`);
    this.step = step;
    const { parameters, gradients } = this.blocks;
    parameters.read();
    gradients.read();
    this.update(parameters.values, gradients.values, fround(scale));
    parameters.write();
    gradients.values.fill(0);
    gradients.write();
    this.outputs.parameters.send({ step, learning_rate: this.parameters.lr });
  }

  /** Computes the formula of the standard optimizer, with the same rounding. */
  update(parameters, gradients, scale) {
    const { lr, weight_decay, beta1, beta2, eps } = this.parameters;
    const { mean, square } = this;
    const stepSize = fround(lr / (1 - beta1 ** Number(this.step)));
    const rootScale = fround(1 / sqrt(1 - beta2 ** Number(this.step)));
    const [keep, old1, new1, old2, new2] = [1 - lr * weight_decay, beta1, 1 - beta1, beta2, 1 - beta2].map(fround);
    const small = fround(eps);
    for (let i = 0; i < parameters.length; ++i) {
      const gradient = fround(gradients[i] * scale);
      mean[i] = fround(mean[i] * old1) + fround(gradient * new1);
      square[i] = fround(square[i] * old2) + fround(fround(gradient * gradient) * new2);
      const denominator = fround(fround(fround(sqrt(square[i])) * rootScale) + small);
      parameters[i] = fround(parameters[i] * keep) - fround(fround(mean[i] * stepSize) / denominator);
    }
  }
}

await runMember(Optimizer);
