// SPDX-License-Identifier: Apache-2.0
// Runs one component: what the launcher asks for, messages, timers and calls.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { TrainyardError } from "../errors.js";
import { Calls } from "./calls.js";
import { Control } from "./control.js";
import { Gateway, MOST_UNREAD } from "./gateway.js";
import { InputPort } from "./inlet.js";
import { Log } from "./log.js";
import { Mailbox } from "./mailbox.js";
import { Imports } from "./memory.js";
import { Outlet, OutputPort } from "./outlet.js";
import { readValues } from "./parameters.js";
import { admit, router } from "./sockets.js";
import { Wiring } from "./wiring.js";

/** @typedef {import("./component.js").Component} Component */
/** @typedef {import("./protocol.js").ComponentPlan} ComponentPlan */
/** @typedef {import("./protocol.js").ProcessPlan} ProcessPlan */
/** @typedef {() => void | Promise<void>} Action */

/**
 * What a run gives to a component.
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

/** What exists once the plan has arrived. */
class Parts {
  /**
   * @param {ComponentPlan} me
   * @param {Component} component
   * @param {Calls} calls
   * @param {Wiring} wiring
   * @param {Gateway} gateway
   * @param {Imports} imports
   */
  constructor(me, component, calls, wiring, gateway, imports) {
    this.me = me;
    this.component = component;
    this.calls = calls;
    this.wiring = wiring;
    this.gateway = gateway;
    this.imports = imports;
  }
}

const DRAIN_INTERVAL_MS = 2;
const HERE = fileURLToPath(new URL("..", import.meta.url));

/**
 * Returns one sentence about an error, with the place in the user's program. An error of this package says by itself what
 * is wrong.
 * @param {unknown} error
 * @returns {string}
 */
export function describe(error) {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TrainyardError) return error.message;
  for (const line of (error.stack ?? "").split("\n")) {
    const place = /(?:file:\/\/)?(\/[^():]+):(\d+):\d+\)?$/.exec(line);
    if (place && !place[1].startsWith(HERE) && !place[1].includes("/node_modules/")) {
      return `${error.name}: ${error.message} (${basename(place[1])}:${place[2]})`;
    }
  }
  return `${error.name}: ${error.message}`;
}

/** The process of one member. */
export class Host {
  #declared;
  #start;
  #control;
  #mailbox = new Mailbox(() => this.#isHeld(), (delivery) => this.#handle(delivery));
  /** @type {Record<string, InputPort>} */
  #inputs = {};
  /** @type {Record<string, OutputPort>} */
  #outputs = {};
  /** @type {Parts | null} */
  #parts = null;
  #state = "unconfigured";
  #wasActive = false;
  #announced = true; // False while a Connect has not been answered.
  #trace = () => 0n;
  /** @type {(value?: unknown) => void} */
  #end = () => {};

  /**
   * @param {import("./declared.js").Declared} declared
   * @param {{ name: string, endpoint: string, keys: import("./sockets.js").Keys }} start
   */
  constructor(declared, start) {
    this.#declared = declared;
    this.#start = start;
    this.#control = new Control(start, (type, message) => this.#received(type, message), (error) => this.#fail(error),
      (alive) => this.#mailbox.run(alive));
  }

  /** Returns when the component is finalized. Whether it has failed, it has told the launcher. */
  async run() {
    process.on("uncaughtException", (error) => this.#fail(error));
    const whenExited = () => process.stderr.write("process.exit() was called while the component was running; to end the " +
      "run, call finishRun()\n");
    process.on("exit", whenExited);
    await new Promise((resolve) => { this.#end = resolve; });
    process.off("exit", whenExited);
    this.#parts?.gateway.close();
    this.#parts?.wiring.close();
    await this.#control.end();
  }

  /**
   * Runs something of the component, which fails if an error is thrown.
   * @param {Action} action
   */
  post(action) { setImmediate(() => this.#mailbox.run(() => this.#guarded(action))); }

  /**
   * @param {string} reason
   * @param {boolean} success
   */
  finishRun(reason, success) {
    this.#control.send("RunFinished", { component: this.#parts?.me.name ?? "", reason, success });
  }

  /** @param {Parameters<Calls["takeSettings"]>[0]} settings */
  takeSettings(settings) { this.#parts?.calls.takeSettings(settings); }

  /**
   * @param {Action} action
   * @returns {void | Promise<void>}
   */
  #guarded(action) {
    try {
      const done = action();
      if (done instanceof Promise) return done.catch((error) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * @param {string} type
   * @param {any} message
   */
  #received(type, message) {
    if (type === "ProcessPlan") this.#mailbox.run(() => this.#onPlan(message));
    else if (type === "Connect") this.#onConnect(message);
    else if (type === "Transition") this.#mailbox.run(() => this.#onTransition(message));
    else if (type === "Request") this.#onRequest(message);
    else if (type === "PeerGone") this.#onPeerGone(message);
  }

  /** @param {ProcessPlan} plan */
  async #onPlan(plan) {
    try {
      const parts = this.#parts = await this.#makeParts(plan);
      this.#control.watch(parts.me.name);
      await parts.component.onConfigure();
    } catch (error) {
      return this.#fail(error);
    }
    const { gateway, wiring, me } = this.#parts;
    this.#state = "inactive";
    this.#report("inactive");
    const { name } = this.#start;
    this.#control.send("Configured", { process: name, endpoints: new Map([[`${name}/gateway`, gateway.endpoint],
      ...(wiring.outlet ? [/** @type {[string, string]} */ ([`${name}/${me.thread}`, wiring.outlet.endpoint])] : [])]) });
  }

  /**
   * @param {ProcessPlan} plan
   * @returns {Promise<Parts>}
   */
  async #makeParts(plan) {
    const { name, keys } = this.#start;
    const me = plan.components.find((one) => one.process === name);
    if (!me) throw new TrainyardError(`the plan has no component in the process '${name}'`);
    this.#makePorts(me);
    const file = `${name}.gateway`.replaceAll("/", "~");
    const gateway = new Gateway(await router(null, `ipc://${plan.run_directory}/${file}`, MOST_UNREAD),
      Object.values(this.#outputs));
    const hasOutgoing = plan.edges.some((edge) => edge.from === me.index);
    if (hasOutgoing) await admit(keys);
    const outlet = hasOutgoing ?
      new Outlet(await router(keys, plan.bind.get(me.thread) ?? ""), this.#control.counts) : null;
    const wiring = new Wiring(plan, me, this.#inputs, this.#outputs, outlet);
    const values = readValues(this.#declared.parameters, JSON.parse(me.parameters), me.places);
    const component = this.#makeComponent(plan, me, values, gateway);
    this.#trace = () => component.trace;
    return new Parts(me, component, new Calls(component, this.#declared, values), wiring, gateway,
      new Imports(plan.process_index));
  }

  /** @param {ComponentPlan} me */
  #makePorts(me) {
    for (const input of this.#declared.inputs) {
      this.#inputs[input.name] = new InputPort(input, me.topics.get(input.name) ?? "",
        (port) => this.#mailbox.resume(port));
    }
    for (const output of this.#declared.outputs) {
      this.#outputs[output.name] = new OutputPort(output, me.topics.get(output.name) ?? "", { source: me.index,
        trace: () => this.#trace(), roomAgain: () => this.#mailbox.release(), post: (action) => this.post(action) });
    }
  }

  /**
   * @param {ProcessPlan} plan
   * @param {ComponentPlan} me
   * @param {Record<string, unknown>} values
   * @param {Gateway} gateway
   * @returns {Component}
   */
  #makeComponent(plan, me, values, gateway) {
    const parameters = Object.defineProperties({}, Object.fromEntries(Object.keys(values).map((name) =>
      [name, { enumerable: true, get: () => values[name] }])));
    return new this.#declared.kind({ host: this, name: me.name, rank: me.rank, worldSize: me.world_size, seed: plan.seed,
      run: plan.run, runDirectory: plan.run_directory, outputDirectory: plan.output_directory,
      log: new Log(me.name, plan.log_level, (record) => gateway.tell(record)), inputs: this.#inputs,
      outputs: this.#outputs, parameters });
  }

  /** @param {{ endpoints: Map<string, string> }} connect */
  #onConnect({ endpoints }) {
    if (!this.#parts) return;
    const { wiring, imports } = this.#parts;
    this.#announced = false;
    wiring.connect(endpoints, { keys: this.#start.keys, imports, deliver: (delivery) => this.#mailbox.deliver(delivery),
      failed: (error) => this.#fail(error), answered: () => this.#announceConnected() });
    this.#announceConnected();
  }

  /** @param {{ process: string }} peer */
  #onPeerGone({ process: peer }) {
    this.#parts?.wiring.peerGone(peer);
    this.#announceConnected(); // Perhaps only this one had not answered.
  }

  #announceConnected() {
    if (this.#announced || !this.#parts?.wiring.connected) return;
    this.#announced = true;
    this.#control.send("Connected", { process: this.#start.name });
  }

  /** @param {{ id: number, target: string, method: string, body: string }} request */
  #onRequest({ id, target, method, body }) {
    /** @param {boolean} ok @param {string} answer */
    const reply = (ok, answer) => this.#control.send("Reply", { id, ok, body: answer });
    if (target === "") {
      return method === "counters" ? reply(true, JSON.stringify({ edges: this.#parts?.wiring.counters() ?? [],
        visitors: this.#parts?.gateway.counters() ?? [], shared_bytes: 0 })) :
        reply(false, "a process answers only 'counters' and 'pulse'");
    }
    if (!this.#parts || target !== this.#parts.me.name) {
      return reply(false, `no component '${target}' in process '${this.#start.name}'`);
    }
    const { calls } = this.#parts;
    // An error is the caller's, so the component does not fail.
    this.#mailbox.run(async () => {
      try {
        reply(true, await calls.perform(method, JSON.parse(body || "{}")));
      } catch (error) {
        reply(false, describe(error));
      }
    });
  }

  /**
   * @param {{ component: string, state: string }} transition
   * @returns {void | Promise<void>}
   */
  #onTransition({ component, state }) {
    if (!this.#parts || component !== this.#parts.me.name) {
      this.#control.send("StateChanged", { component, state: "error",
        error: `process '${this.#start.name}' has no such component` });
    } else if (this.#state === "error") {
      this.#settle(state); // The failure has been reported.
    } else if (state !== this.#state) {
      return this.#change(this.#parts, state);
    }
  }

  /**
   * @param {Parts} parts
   * @param {string} target
   */
  async #change({ component, wiring }, target) {
    try {
      // A failure elsewhere may end a component that is still active.
      if (target === "inactive" || (target === "finalized" && this.#state === "active")) await component.onDeactivate();
      if (target === "active") await component.onActivate();
      if (target === "finalized") await component.onFinalize();
    } catch (error) {
      return this.#fail(error);
    }
    this.#state = target;
    if (target === "inactive") {
      wiring.outlet?.requestFlush();
      return this.#reportWhenDrained(wiring);
    }
    this.#wasActive ||= target === "active";
    this.#settle(target);
  }

  /**
   * Reports a state. A process ends when its component is finalized.
   * @param {string} state
   */
  #settle(state) {
    this.#report(state);
    if (state === "finalized") this.#end();
  }

  /** @param {Wiring} wiring */
  #reportWhenDrained(wiring) {
    if (wiring.drained) this.#report("inactive");
    else setTimeout(() => this.#reportWhenDrained(wiring), DRAIN_INTERVAL_MS);
  }

  /**
   * @param {string} state
   * @param {string} error
   */
  #report(state, error = "") {
    this.#control.send("StateChanged", { component: this.#parts?.me.name ?? "", state, error });
  }

  /** @param {unknown} error */
  #fail(error) {
    if (process.env.TRAINYARD_TRACEBACK && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    const isFirst = this.#state !== "error";
    this.#state = "error";
    if (isFirst) this.#report("error", describe(error));
    // What was kept back is discarded, so that its senders are not held up.
    for (const port of Object.values(this.#inputs)) this.#mailbox.resume(port);
    this.#mailbox.release();
  }

  #isHeld() {
    if (this.#state === "error") return false;
    if (!this.#wasActive) return true;
    for (const name in this.#outputs) if (this.#outputs[name].isBlocked()) return true;
    return false;
  }

  /**
   * @param {import("./inlet.js").Delivery} delivery
   * @returns {void | Promise<void>}
   */
  #handle(delivery) {
    const component = /** @type {any} */ (this.#parts?.component);
    if (this.#state === "active" || this.#state === "inactive") {
      component.trace = delivery.header.trace;
      const done = this.#guarded(() => component[delivery.port.declared.method](delivery.message, delivery.header));
      if (done) return done.then(() => this.#finish(delivery));
    }
    this.#finish(delivery);
  }

  /** @param {import("./inlet.js").Delivery} delivery */
  #finish(delivery) {
    if (this.#parts) this.#parts.component.trace = 0n;
    delivery.done();
  }
}
