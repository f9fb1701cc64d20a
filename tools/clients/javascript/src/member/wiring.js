// SPDX-License-Identifier: Apache-2.0
// Manages the ends of all edges (connections between an output and an input) of one component: creates them, connects
// them, and handles the end of other processes.
import { WINDOW_BYTES, WINDOW_MESSAGES } from "../bounds.js";
import { Schema } from "../codec.js";
import { TrainyardError } from "../errors.js";
import { Inlet } from "./inlet.js";
import { LOG_RECORD, LOG_TOPIC, VISITOR } from "./protocol.js";

/** @typedef {import("./inlet.js").InputPort} InputPort */
/** @typedef {import("./outlet.js").Outlet} Outlet */
/** @typedef {import("./outlet.js").OutputPort} OutputPort */
/** @typedef {import("./protocol.js").EdgePlan} EdgePlan */

const LOG_FINGERPRINT = new Schema(LOG_RECORD).fingerprint;

/**
 * @template Port
 * @param {Record<string, Port>} ports
 * @param {string} name
 * @returns {Port}
 */
function portOf(ports, name) {
  if (Object.hasOwn(ports, name)) return ports[name];
  throw new TrainyardError(`it has no port '${name}', which the plan connects; was the program changed?`);
}

export class Wiring {
  /**
   * The inlets, by the name under which the launcher announces the publisher: PROCESS/THREAD.
   * @type {Map<string, Inlet>}
   */
  #inlets = new Map();
  #plan;
  #me;
  #inputs;

  /**
   * @param {import("./protocol.js").ProcessPlan} plan
   * @param {import("./protocol.js").ComponentPlan} me
   * @param {Record<string, InputPort>} inputs
   * @param {Record<string, OutputPort>} outputs
   * @param {Outlet | null} outlet there if edges begin at the component
   */
  constructor(plan, me, inputs, outputs, outlet) {
    this.#plan = plan;
    this.#me = me;
    this.#inputs = inputs;
    this.outlet = outlet;
    for (const edge of [...this.#incoming(), ...this.#logEdges()]) portOf(inputs, edge.input).connections += 1;
    for (const edge of plan.edges.filter((one) => one.from === me.index)) {
      outlet?.add(portOf(outputs, edge.output), edge);
    }
  }

  /** The edges that begin at the outputs of the component. */
  get edges() { return this.outlet?.edges ?? []; }

  #incoming() { return this.#plan.edges.filter((edge) => edge.to === this.#me.index); }

  /**
   * Returns edges for inputs that receive the log. The plan contains no edges for the log, so these inputs subscribe at
   * the gateways of all processes, as visitors do.
   * @returns {EdgePlan[]}
   */
  #logEdges() {
    return Object.values(this.#inputs)
      .filter((port) => port.topic === LOG_TOPIC && port.declared.schema.fingerprint === LOG_FINGERPRINT)
      .map(({ declared }) => ({ id: VISITOR, topic: LOG_TOPIC, from: 0, output: "", to: this.#me.index,
        input: declared.name, policy: "drop_oldest", transport: "tcp",
        window_messages: BigInt(Math.min(declared.windowMessages, WINDOW_MESSAGES)),
        window_bytes: BigInt(Math.min(declared.windowBytes, WINDOW_BYTES)) }));
  }

  /**
   * Subscribes at all publishers that are not connected yet. A publisher that is not running has no address yet; a
   * later message Connect will contain it.
   * @param {Map<string, string>} endpoints
   * @param {Omit<ConstructorParameters<typeof Inlet>[0], "endpoint" | "keys">
   * & { keys: import("./sockets.js").Keys }} options
   */
  connect(endpoints, options) {
    /** @type {Map<string, EdgePlan[]>} */
    const wanted = new Map();
    for (const edge of this.#incoming()) {
      const sender = this.#plan.components[edge.from];
      const key = `${sender.process}/${sender.thread}`;
      wanted.set(key, [...(wanted.get(key) ?? []), edge]);
    }
    for (const key of endpoints.keys()) {
      const edges = key.endsWith("/gateway") ? this.#logEdges() : [];
      if (edges.length > 0) wanted.set(key, edges);
    }
    for (const [key, edges] of wanted) {
      const endpoint = endpoints.get(key);
      if (this.#inlets.has(key) || endpoint === undefined) continue;
      const inlet = new Inlet({ ...options, endpoint, keys: key.endsWith("/gateway") ? null : options.keys });
      this.#inlets.set(key, inlet);
      for (const edge of edges) inlet.subscribe(this.#inputs[edge.input], edge);
    }
  }

  /** Returns true if every subscription was accepted. */
  get connected() { return [...this.#inlets.values()].every((inlet) => inlet.connected); }

  /**
   * Called when the process of another component has ended.
   * @param {string} process
   * @param {number} pid the pid that it had on its own host
   */
  peerGone(process, pid) {
    for (const [key, inlet] of this.#inlets) {
      if (key.slice(0, key.lastIndexOf("/")) !== process) continue;
      inlet.close();
      this.#inlets.delete(key);
    }
    for (const edge of this.edges) {
      if (this.#plan.components[edge.plan.to].process === process && !edge.hasSuccessorOf(pid)) edge.lose();
    }
  }

  /** Returns true if all messages that were sent over edges with the policy `block` have been handled. */
  get drained() { return this.edges.every((edge) => edge.policy !== "block" || edge.drained()); }

  /** Returns the counters of all edges, for the answer to the call `counters`. */
  counters() {
    return this.edges.map((edge) => ({ topic: edge.plan.topic, edge: edge.plan.id, from: this.#me.name,
      to: this.#plan.components[edge.plan.to].name, policy: edge.policy, window: edge.windowMessages,
      under_way: null, sent: edge.sent, bytes: edge.bytes, dropped: edge.dropped, blocked: edge.blocked }));
  }

  close() {
    for (const inlet of this.#inlets.values()) inlet.close();
    this.outlet?.close();
  }
}
