// SPDX-License-Identifier: Apache-2.0
// Makes the parts of one component of a run (its ports, mailbox, sockets and so on) from the plan.
import { basename } from "node:path";
import { TrainyardError } from "../errors.js";
import { Calls } from "./calls.js";
import { Gateway, MOST_UNREAD } from "./gateway.js";
import { InputPort } from "./inlet.js";
import { Log } from "./log.js";
import { Imports } from "./memory.js";
import { Outlet, OutputPort } from "./outlet.js";
import { readValues } from "./parameters.js";
import { admit, router } from "./sockets.js";
import { Wiring } from "./wiring.js";

/** @typedef {import("./component.js").Component} Component */
/** @typedef {import("./declared.js").Declared} Declared */
/** @typedef {import("./host.js").Host} Host */
/** @typedef {import("./protocol.js").ComponentPlan} ComponentPlan */
/** @typedef {import("./protocol.js").ProcessPlan} ProcessPlan */

/**
 * The information and objects that a component gets from its run.
 * @typedef {object} Context
 * @property {Host} host
 * @property {string} name
 * @property {number} rank
 * @property {number} worldSize
 * @property {bigint} seed
 * @property {string} run
 * @property {string} runDirectory
 * @property {string} outputDirectory
 * @property {Log} log
 * @property {Record<string, InputPort>} inputs
 * @property {Record<string, OutputPort>} outputs
 * @property {Readonly<Record<string, unknown>>} parameters
 */
/**
 * The objects of the process that the parts of a component need.
 * @typedef {object} Surroundings
 * @property {Host} host
 * @property {Declared} declared
 * @property {string} process
 * @property {import("./sockets.js").Keys} keys
 * @property {Float64Array} counts see Control.counts
 * @property {import("./mailbox.js").Mailbox} mailbox
 */

/** The parts of one component. */
export class Parts {
  /** @type {Record<string, InputPort>} */
  inputs = {};
  /** @type {Record<string, OutputPort>} */
  outputs = {};

  /**
   * Makes the parts. Throws TrainyardError if the plan does not match the class or a socket cannot be bound.
   * @param {ProcessPlan} plan
   * @param {Surroundings} surroundings
   * @returns {Promise<Parts>}
   */
  static async make(plan, surroundings) {
    const { process, keys, counts } = surroundings;
    const me = plan.components.find((one) => one.process === process);
    if (!me) throw new TrainyardError(`the plan has no component in the process '${process}'`);
    const file = `${process}.gateway`.replaceAll("/", "~");
    const door = await router(null, `ipc://${plan.run_directory}/${file}`, MOST_UNREAD);
    const hasOutgoing = plan.edges.some((edge) => edge.from === me.index);
    if (hasOutgoing) await admit(keys);
    const outlet = hasOutgoing ? new Outlet(await router(keys, plan.bind.get(me.thread) ?? ""), counts) : null;
    return new Parts(plan, me, surroundings, door, outlet);
  }

  /**
   * For make() only.
   * @param {ProcessPlan} plan
   * @param {ComponentPlan} me
   * @param {Surroundings} surroundings
   * @param {import("zeromq").Router} door for visitors
   * @param {Outlet | null} outlet
   */
  constructor(plan, me, surroundings, door, outlet) {
    const { declared } = surroundings;
    this.me = me;
    this.imports = new Imports(plan.process_index);
    this.#makePorts(surroundings);
    this.gateway = new Gateway(door, Object.values(this.outputs));
    this.wiring = new Wiring(plan, me, this.inputs, this.outputs, outlet);
    const values = readValues(declared.parameters, JSON.parse(me.parameters), me.places);
    this.component = this.#makeComponent(plan, surroundings, values);
    this.calls = new Calls(this.component, declared, values);
  }

  /** @param {Surroundings} surroundings */
  #makePorts({ declared, host, mailbox }) {
    const { topics, index } = this.me;
    for (const input of declared.inputs) {
      this.inputs[input.name] = new InputPort(input, topics.get(input.name) ?? "", (port) => mailbox.resume(port));
    }
    for (const output of declared.outputs) {
      this.outputs[output.name] = new OutputPort(output, topics.get(output.name) ?? "", { source: index,
        trace: () => this.component.trace, roomAgain: () => mailbox.release(), post: (action) => host.post(action) });
    }
  }

  /**
   * @param {ProcessPlan} plan
   * @param {Surroundings} surroundings
   * @param {Record<string, unknown>} values
   * @returns {Component}
   */
  #makeComponent(plan, { declared, host }, values) {
    const { name, rank, world_size: worldSize } = this.me;
    const parameters = Object.defineProperties({}, Object.fromEntries(Object.keys(values).map((one) =>
      [one, { enumerable: true, get: () => values[one] }])));
    return new declared.kind({ host, name, rank, worldSize, seed: plan.seed, run: basename(plan.run_directory),
      runDirectory: plan.run_directory, outputDirectory: plan.output_directory,
      log: new Log(name, plan.log_level, (record) => this.gateway.tell(record)), inputs: this.inputs,
      outputs: this.outputs, parameters });
  }
}
