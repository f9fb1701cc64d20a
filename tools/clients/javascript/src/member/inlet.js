// SPDX-License-Identifier: Apache-2.0
// The receiving end of edges. A process has one socket for each event loop that sends to it.
import { textOf } from "../bytes.js";
import { BadMessage, TrainyardError } from "../errors.js";
import { HEADER_BYTES, readHeader } from "../header.js";
import { EDGES, edgeFrames, ringOffer } from "./protocol.js";
import { dealer, listen } from "./sockets.js";

/** @typedef {import("../header.js").Header} Header */
/** @typedef {import("./memory.js").Imports} Imports */
/** @typedef {import("./protocol.js").EdgePlan} EdgePlan */

/** One input of a component in a run. */
export class InputPort {
  paused = false;
  /** The number of edges that lead to this input. */
  connections = 0;
  /** @type {Delivery[]} */
  aside = [];

  /**
   * @param {import("./declared.js").Input} declared
   * @param {string} topic
   * @param {(port: InputPort) => void} resumed
   */
  constructor(declared, topic, resumed) {
    this.declared = declared;
    this.name = declared.name;
    this.topic = topic;
    this.resumed = resumed;
  }

  /**
   * Keeps messages back until resume() is called. Their credit is not returned meanwhile, so senders with the policy
   * `block` have to wait.
   */
  pause() { this.paused = true; }

  /** Passes the messages that were kept back to the handler, and then all others. */
  resume() { this.resumed(this); }
}

/** A message that has arrived. */
export class Delivery {
  /**
   * @param {Receiver} receiver
   * @param {Header} header
   * @param {any} message
   * @param {number} size
   * @param {{ giveBack(): void }[]} loans
   * @param {Inlet} inlet
   */
  constructor(receiver, header, message, size, loans, inlet) {
    this.receiver = receiver;
    this.port = receiver.port;
    this.header = header;
    this.message = message;
    this.size = size;
    this.loans = loans;
    this.inlet = inlet;
  }

  /** Returns the credit of the message and the memory of its tensors. */
  done() {
    for (const loan of this.loans) loan.giveBack();
    this.inlet.consumed(this.receiver, this.size);
  }
}

/** The subscription for one edge. */
class Receiver {
  connected = false;
  flushing = false;
  // The messages that were handled, but whose credit has not been returned yet.
  messages = 0;
  bytes = 0;

  /**
   * @param {InputPort} port
   * @param {EdgePlan} edge
   * @param {number} number
   */
  constructor(port, edge, number) {
    this.port = port;
    this.number = number;
    this.windowMessages = Number(edge.window_messages);
    this.windowBytes = Number(edge.window_bytes);
  }
}

/** @type {{ giveBack(): void }[]} */
const NO_LOANS = [];

/** A connection to one publisher. */
export class Inlet {
  #socket;
  /** @type {Receiver[]} */
  #receivers = [];

  /**
   * @param {object} options
   * @param {string} options.endpoint
   * @param {import("./sockets.js").Keys | null} options.keys null at a gateway, where everybody is a visitor
   * @param {Imports} options.imports
   * @param {(delivery: Delivery) => void} options.deliver
   * @param {(error: TrainyardError) => void} options.failed
   * @param {() => void} options.answered is called when a subscription was accepted
   */
  constructor({ endpoint, keys, imports, deliver, failed, answered }) {
    this.isMember = keys !== null;
    this.imports = imports;
    this.deliver = deliver;
    this.answered = answered;
    this.#socket = dealer(keys, endpoint);
    listen(this.#socket, (frames) => {
      try {
        if (frames[0].length > 0) this.#onData(frames);
        else this.#onControl(frames);
      } catch (error) {
        if (!(error instanceof TrainyardError)) throw error;
        failed(error);
      }
    });
  }

  /**
   * @param {InputPort} port
   * @param {EdgePlan} edge
   */
  subscribe(port, edge) {
    const number = this.#receivers.length;
    this.#receivers.push(new Receiver(port, edge, number));
    const request = edgeFrames("Subscribe", { subscription: number, topic: edge.topic, edge: edge.id,
      fingerprint: port.declared.schema.fingerprint, policy: edge.policy, window_messages: edge.window_messages,
      window_bytes: edge.window_bytes, payloads: this.isMember && edge.transport !== "tcp" ? "handle" : "inline",
      process_index: this.isMember ? this.imports.index : 0 });
    this.#send(this.isMember ? [...request, ringOffer(process.pid)] : request);
  }

  /** Returns true if every subscription was accepted. @returns {boolean} */
  get connected() { return this.#receivers.every((receiver) => receiver.connected); }

  close() {
    this.#socket.linger = 0;
    this.#socket.close();
  }

  /** @param {Uint8Array[]} frames */
  #send(frames) { this.#socket.send(frames).catch(() => {}); }

  /** @param {Buffer[]} frames */
  #onControl(frames) {
    // Unknown frames are ignored, because a newer publisher may send them.
    const kind = textOf(frames[1] ?? frames[0]);
    if ((frames.length !== 3 && frames.length !== 4) || (kind !== "Subscribed" && kind !== "Flush")) return;
    const message = EDGES.get(kind)?.decode(frames[2]);
    const receiver = this.#receivers[message.subscription];
    if (!receiver) return;
    if (kind === "Flush") {
      receiver.flushing = true;
      this.#returnCredit(receiver);
    } else if (message.error) {
      throw new TrainyardError(`topic '${message.topic}': ${message.error}\nthe publisher has ${message.schema}\n` +
        `this input '${receiver.port.name}' has ${receiver.port.declared.schemaText}`);
    } else {
      receiver.connected = true;
      this.answered();
    }
  }

  /** @param {Buffer[]} frames */
  #onData(frames) {
    if (frames.length < 3 || frames[1].length !== HEADER_BYTES) {
      throw new BadMessage(`a message of ${frames.length} frames, which has no header of wire version 1`);
    }
    const header = readHeader(frames[1], "", this.isMember);
    const receiver = this.#receivers[header.subscription];
    if (!receiver || header.payloads !== frames.length - 3) return; // No error could name the sender.
    const { declared } = receiver.port;
    header.topic = receiver.port.topic;
    if (header.fingerprint !== declared.schema.fingerprint) {
      throw new BadMessage(`message with fingerprint ${header.fingerprint.toString(16)}; '${declared.name}' takes ` +
        `${declared.schema.name} ${declared.schema.fingerprint.toString(16)}`);
    }
    if (frames.length === 3) {
      const message = declared.schema.decode(frames[2]);
      return this.deliver(new Delivery(receiver, header, message, frames[2].length, NO_LOANS, this));
    }
    this.#onPayloads(receiver, header, frames);
  }

  /**
   * @param {Receiver} receiver
   * @param {Header} header
   * @param {Buffer[]} frames
   */
  #onPayloads(receiver, header, frames) {
    const loans = [];
    const payloads = [];
    let size = frames[2].length;
    for (let i = 3; i < frames.length; ++i) {
      const isHandle = (header.handles >> BigInt(i - 3)) & 1n;
      const payload = isHandle ? this.imports.open(frames[i]) : frames[i];
      size += payload.length;
      payloads.push(payload);
      if ("giveBack" in payload) loans.push(payload);
    }
    const message = receiver.port.declared.schema.decode(frames[2], payloads);
    this.deliver(new Delivery(receiver, header, message, size, loans, this));
  }

  /**
   * @param {Receiver} receiver
   * @param {number} size
   */
  consumed(receiver, size) {
    receiver.messages += 1;
    receiver.bytes += size;
    if (receiver.flushing || receiver.messages * 2 >= receiver.windowMessages ||
        receiver.bytes * 2 >= receiver.windowBytes) {
      this.#returnCredit(receiver);
    }
  }

  /** @param {Receiver} receiver */
  #returnCredit(receiver) {
    if (receiver.messages > 0 && !this.#socket.closed) { // The socket is closed if the sender has died.
      this.#send(edgeFrames("Credit", { subscription: receiver.number, messages: receiver.messages,
        bytes: receiver.bytes }));
    }
    receiver.messages = receiver.bytes = 0;
  }
}
