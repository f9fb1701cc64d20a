// SPDX-License-Identifier: Apache-2.0
// Runs one component: handles the launcher's requests, messages, timers and calls.
import { TrainyardError } from "../errors.js";
import { Control } from "./control.js";
import { describe } from "./describe.js";
import { Mailbox } from "./mailbox.js";
import { Parts } from "./parts.js";

/** @typedef {import("./calls.js").Calls} Calls */
/** @typedef {import("./component.js").Component} Component */
/** @typedef {import("./protocol.js").ProcessPlan} ProcessPlan */
/** @typedef {import("./wiring.js").Wiring} Wiring */
/** @typedef {() => void | Promise<void>} Action */

const DRAIN_INTERVAL_MS = 2;
// Messages are handled for at most this time after deactivation, because some senders may never stop.
const LONGEST_REST_MS = 1000;

/** The process of one member. */
export class Host {
  #declared;
  #start;
  #control;
  #mailbox = new Mailbox(() => this.#isHeld(), (delivery) => this.#handle(delivery));
  /** The full name of the component, once the plan has arrived. */
  #name = "";
  /** @type {Parts | null} */
  #parts = null;
  #state = "unconfigured";
  #wasActive = false;
  #announced = true; // False until the request Connect of the launcher has been answered.
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

  /** Runs the component, and returns when it is finalized. A failure has then been reported to the launcher. */
  async run() {
    process.on("uncaughtException", (error) => this.#fail(error));
    const whenExited = () => process.stderr.write("process.exit() was called while the component was running; to end the " +
      "run, call finishRun()\n");
    process.on("exit", whenExited);
    await new Promise((resolve) => { this.#end = resolve; });
    process.off("exit", whenExited);
    this.#parts?.wiring.close();
    await this.#control.end();
  }

  /**
   * Calls a function of the component later. If it throws an error, the component fails.
   * @param {Action} action
   */
  post(action) { setImmediate(() => this.#mailbox.run(() => this.#guarded(action))); }

  /**
   * @param {string} reason
   * @param {boolean} success
   */
  finishRun(reason, success) {
    this.#control.send("RunFinished", { component: this.#name, reason, success });
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
    const { name, keys } = this.#start;
    this.#name = plan.components.find((one) => one.process === name)?.name ?? "";
    try {
      this.#parts = await Parts.make(plan, { host: this, declared: this.#declared, process: name, keys,
        counts: this.#control.counts, mailbox: this.#mailbox });
      this.#control.watch(this.#name);
      await this.#parts.component.onConfigure();
    } catch (error) {
      return this.#fail(error);
    }
    const { gateway, wiring, me } = this.#parts;
    this.#state = "inactive";
    this.#report("inactive");
    this.#control.send("Configured", { process: name, endpoints: new Map([[`${name}/gateway`, gateway.endpoint],
      ...(wiring.outlet ? [/** @type {[string, string]} */ ([`${name}/${me.thread}`, wiring.outlet.endpoint])] : [])]) });
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

  /** @param {{ process: string, pid: number }} peer */
  #onPeerGone({ process: peer, pid }) {
    this.#parts?.wiring.peerGone(peer, pid);
    this.#announceConnected(); // Perhaps the answer to Connect was waiting only for this publisher.
  }

  #announceConnected() {
    if (this.#announced || !this.#parts?.wiring.connected) return;
    this.#announced = true;
    this.#control.send("Connected", { process: this.#start.name });
  }

  #counters() {
    const cpu = process.cpuUsage();
    return { time_ns: Number(process.hrtime.bigint()), cpu_ns: (cpu.user + cpu.system) * 1000,
      memory_bytes: process.memoryUsage.rss(), shared_bytes: 0, edges: this.#parts?.wiring.counters() ?? [],
      visitors: this.#parts?.gateway.counters() ?? [] };
  }

  /** @param {{ id: number, target: string, method: string, body: string }} request */
  #onRequest({ id, target, method, body }) {
    /** @param {boolean} ok @param {string} answer */
    const reply = (ok, answer) => this.#control.send("Reply", { id, ok, body: answer });
    if (target === "") {
      return method === "counters" ? reply(true, JSON.stringify(this.#counters())) :
        reply(false, "a process answers only 'counters' and 'pulse'");
    }
    if (!this.#parts || target !== this.#name) {
      return reply(false, `no component '${target}' in process '${this.#start.name}'`);
    }
    const { calls } = this.#parts;
    // An error is returned to the caller; the component does not fail.
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
    if (component !== this.#name) {
      this.#control.send("StateChanged", { component, state: "error",
        error: `process '${this.#start.name}' has no such component` });
    } else if (this.#state === "error") {
      this.#settle(state); // The failure has been reported.
    } else if (this.#parts && state !== this.#state) {
      return this.#change(this.#parts, state);
    }
  }

  /**
   * @param {Parts} parts
   * @param {string} target
   */
  async #change({ component, wiring }, target) {
    try {
      // After a failure of another component, a component may be finalized while it is still active.
      if (target === "inactive" || (target === "finalized" && this.#state === "active")) await component.onDeactivate();
      if (target === "active") await component.onActivate();
      if (target === "finalized") await component.onFinalize();
    } catch (error) {
      return this.#fail(error);
    }
    this.#state = target;
    if (target === "inactive") {
      wiring.outlet?.requestFlush();
      return this.#reportWhenDrained(wiring, performance.now() + LONGEST_REST_MS);
    }
    this.#wasActive ||= target === "active";
    this.#settle(target);
  }

  /**
   * Reports the new state to the launcher. When the component is finalized, also tells its visitors, and ends the
   * process.
   * @param {string} state
   */
  #settle(state) {
    if (state === "finalized") this.#parts?.gateway.close();
    this.#report(state);
    if (state === "finalized") this.#end();
  }

  /**
   * Reports to the launcher as soon as all receivers have handled the messages that were sent to them, and this
   * component has handled the messages that have arrived. Those may come from senders that do not wait, because their
   * edges drop messages. The first check is delayed a little, so that the sockets have been read.
   * @param {Wiring} wiring
   * @param {number} restUntil
   */
  #reportWhenDrained(wiring, restUntil) {
    setTimeout(() => {
      const rests = this.#mailbox.isIdle || performance.now() > restUntil;
      if (wiring.drained && rests) this.#report("inactive");
      else this.#reportWhenDrained(wiring, restUntil);
    }, DRAIN_INTERVAL_MS);
  }

  /**
   * @param {string} state
   * @param {string} error
   */
  #report(state, error = "") {
    this.#control.send("StateChanged", { component: this.#name, state, error });
  }

  /** @param {unknown} error */
  #fail(error) {
    if (process.env.TRAINYARD_TRACEBACK && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    const isFirst = this.#state !== "error";
    this.#state = "error";
    if (isFirst) this.#report("error", describe(error));
    // Messages that were kept back are discarded, so that their senders do not wait.
    for (const port of Object.values(this.#parts?.inputs ?? {})) this.#mailbox.resume(port);
    this.#mailbox.release();
  }

  #isHeld() {
    if (this.#state === "error") return false;
    if (!this.#wasActive) return true;
    const outputs = this.#parts?.outputs ?? {};
    for (const name in outputs) if (outputs[name].isBlocked()) return true;
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
