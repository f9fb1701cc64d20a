// SPDX-License-Identifier: Apache-2.0
// The outputs of a component, and the socket at which other members of the run subscribe to them.
import { bytesOf, textOf } from "../bytes.js";
import { BadMessage } from "../errors.js";
import { Edge } from "./edge.js";
import { Outgoing } from "./outgoing.js";
import { EDGES, edgeFrames } from "./protocol.js";
import { addressOf, listen } from "./sockets.js";

/** @typedef {import("./protocol.js").EdgePlan} EdgePlan */

// If no receiver limits a component, its outputs are not ready for PAUSE_MS milliseconds after every BURST messages.
const BURST = 64n;
const PAUSE_MS = 1;

/** One output of a component in a run. */
export class OutputPort {
  /** @type {PlannedEdge[]} */
  edges = [];
  /** The last message of a latched output. @type {Outgoing | null} */
  last = null;
  /**
   * A function that passes messages on to the gateway; set while visitors have subscribed to this output.
   * @type {((message: Outgoing) => void) | null}
   */
  tap = null;
  #sequence = 0n;
  #burstFirst = 0n;
  #burstBegan = 0;
  #pausing = false;
  /** @type {(() => void | Promise<void>) | null} */
  #onReady = null;
  /** @type {((value: unknown) => void)[]} */
  #waiting = [];
  #host;

  /**
   * @param {import("./declared.js").Output} declared
   * @param {string} topic
   * @param {object} host
   * @param {number} host.source the number of the component
   * @param {() => bigint} host.trace
   * @param {() => void} host.roomAgain
   * @param {(action: () => void | Promise<void>) => void} host.post
   */
  constructor(declared, topic, host) {
    this.declared = declared;
    this.name = declared.name;
    this.topic = topic;
    this.#host = host;
  }

  /** The number of edges that begin at this output. */
  get connections() { return this.edges.length; }

  /**
   * Returns true if the next message can be sent without waiting. A component that sends messages on its own initiative
   * must check this first. If no receiver limits the component, the result is false for up to a millisecond after every
   * 64 messages, so that messages and timers can be handled.
   * @returns {boolean}
   */
  ready() {
    let isLimited = false;
    for (const edge of this.edges) {
      if (edge.policy !== "block") continue;
      if (!edge.ready()) return false;
      isLimited ||= !edge.receiverGone;
    }
    return isLimited || this.#isWithinBurst();
  }

  // The clock is read only after a whole burst.
  #isWithinBurst() {
    if (this.#pausing) return false;
    if (this.#sequence - this.#burstFirst < BURST) return true;
    const now = performance.now();
    if (now - this.#burstBegan >= PAUSE_MS) {
      this.#burstFirst = this.#sequence;
      this.#burstBegan = now;
      return true;
    }
    this.#pausing = true;
    setTimeout(() => this.#endPause(), PAUSE_MS);
    return false;
  }

  #endPause() {
    this.#pausing = false;
    this.#burstFirst = this.#sequence;
    this.#burstBegan = performance.now();
    this.#tellIfReady();
  }

  /**
   * Sets a function that is called whenever the output becomes ready again. It is called only when no method of the
   * component is running; an asynchronous method must therefore use whenReady() instead.
   * @param {() => void | Promise<void>} action
   */
  onReady(action) { this.#onReady = action; }

  /** Waits until the output is ready. */
  async whenReady() {
    while (!this.ready()) await new Promise((resolve) => { this.#waiting.push(resolve); });
  }

  /**
   * Sends a message: an object with the fields of the type. Tensors are sent without a copy, so their bytes must not be
   * changed afterwards.
   * @param {object} message
   */
  send(message) {
    const { latched, schema } = this.declared;
    const sequence = this.#sequence;
    this.#sequence += 1n; // Messages without receivers are counted, too.
    if (this.edges.length === 0 && !latched && this.tap === null) {
      schema.encode(message); // This finds errors in the message even if it has no receiver yet.
      return;
    }
    const outgoing = new Outgoing(schema, message, { sequence, source: this.#host.source, trace: this.#host.trace() });
    if (latched) this.last = outgoing;
    for (const edge of this.edges) edge.send(outgoing);
    this.tap?.(outgoing);
  }

  /** @returns {boolean} */
  isBlocked() { return this.edges.some((edge) => edge.isBlocked()); }

  /** Called when an edge has credit again. */
  changed() {
    if (this.isBlocked()) return;
    this.#host.roomAgain();
    this.#tellIfReady();
  }

  #tellIfReady() {
    if ((this.#onReady === null && this.#waiting.length === 0) || !this.ready()) return;
    if (this.#onReady !== null) this.#host.post(this.#onReady);
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }
}

/**
 * An edge of the plan that begins at an output of this component.
 * @extends {Edge<Outgoing>}
 */
export class PlannedEdge extends Edge {
  /**
   * @param {EdgePlan} plan
   * @param {OutputPort} output
   * @param {(edge: PlannedEdge, message: Outgoing) => number} transmit
   */
  constructor(plan, output, transmit) {
    super(plan, (message) => transmit(this, message), () => output.changed());
    this.plan = plan;
    this.output = output;
    this.topic = bytesOf(plan.topic);
  }
}

/** The socket at which the receivers of planned edges subscribe. */
export class Outlet {
  /** @type {PlannedEdge[]} */
  edges = [];
  #socket;
  #counts;

  /**
   * @param {import("zeromq").Router} socket
   * @param {Float64Array} counts how many messages were sent, and how many of them on edges with the policy `block`
   */
  constructor(socket, counts) {
    this.#socket = socket;
    this.#counts = counts;
    this.endpoint = addressOf(socket);
    listen(socket, (frames) => {
      try {
        this.#handle(frames);
      } catch (error) {
        // Invalid frames get no answer, and do not disturb other receivers.
        if (!(error instanceof BadMessage)) throw error;
      }
    });
  }

  /**
   * @param {OutputPort} output
   * @param {EdgePlan} plan
   */
  add(output, plan) {
    const edge = new PlannedEdge(plan, output, (from, message) => this.#transmit(from, message));
    this.edges.push(edge);
    output.edges.push(edge);
  }

  /** Asks the receivers of all edges to return their credit without delay. */
  requestFlush() {
    for (const edge of this.edges) {
      if (edge.peer !== null && !edge.drained()) {
        this.#send([edge.peer, ...edgeFrames("Flush", { subscription: edge.subscription })]);
      }
    }
  }

  close() { this.#socket.close(); }

  /**
   * @param {PlannedEdge} edge
   * @param {Outgoing} message
   * @returns {number}
   */
  #transmit(edge, message) {
    const peer = /** @type {Buffer} */ (edge.peer);
    this.#counts[0] += 1;
    if (edge.policy === "block") this.#counts[1] += 1;
    this.#socket.send([peer, ...message.frames(edge.topic, edge.subscription, edge.payloads)]).catch(() => {
      // The receiver has disconnected. If it reconnects, it subscribes again.
      if (edge.peer === peer) edge.peer = null;
    });
    return message.size(edge.payloads);
  }

  /** @param {Uint8Array[]} frames */
  #send(frames) { this.#socket.send(frames).catch(() => {}); }

  /** @param {Buffer[]} frames */
  #handle(frames) {
    // A fifth frame may offer a ring in shared memory. This program does not use the ring, so the receiver takes its
    // messages from this socket.
    if ((frames.length !== 4 && frames.length !== 5) || frames[1].length > 0) return;
    const [peer, , name, body, offer] = frames;
    const kind = textOf(name.subarray(0, 32));
    if (!["Subscribe", "Credit", "Unsubscribe"].includes(kind)) return;
    const message = EDGES.get(kind)?.decode(body);
    if (kind === "Subscribe") {
      return this.#subscribe(peer, message, offer ? EDGES.get("RingOffer")?.decode(offer).wake.pid : 0);
    }
    const edge = this.edges.find((one) => one.subscription === message.subscription && one.peer?.equals(peer));
    if (!edge) return;
    if (kind === "Credit") edge.credit(message.messages, message.bytes);
    else edge.detach();
  }

  /**
   * @param {Buffer} peer
   * @param {import("./protocol.js").Subscribe} request
   * @param {number} pid
   */
  #subscribe(peer, request, pid) {
    const edge = this.edges.find((one) => one.plan.id === request.edge);
    const declared = edge?.output.declared;
    const isSame = declared && (request.fingerprint === 0n || request.fingerprint === declared.schema.fingerprint);
    const error = !declared ? `no topic '${request.topic}' here` : isSame ? "" : "the message types differ";
    if (edge && !error) edge.attach(peer, request, pid);
    this.#send([peer, ...edgeFrames("Subscribed", { subscription: request.subscription, topic: request.topic,
      type: declared?.schema.name ?? "", fingerprint: declared?.schema.fingerprint ?? 0n,
      schema: declared?.schemaText ?? "", error })]);
    // Waiting messages are sent only after the answer to the subscription.
    if (edge && !error) edge.onRoom();
  }
}
