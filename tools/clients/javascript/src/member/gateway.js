// SPDX-License-Identifier: Apache-2.0
// The socket at which visitors (programs that attach to a run) subscribe to the topics of a member
// (docs/wire_format.md, section 3). Messages for which a visitor has no credit wait here, and are dropped if there are
// too many.
import { SUBSCRIPTIONS, TOPIC_BYTES, WINDOW_BYTES, WINDOW_MESSAGES } from "../bounds.js";
import { bytesOf, textOf } from "../bytes.js";
import { BadMessage } from "../errors.js";
import { Output } from "./declared.js";
import { Edge } from "./edge.js";
import { Outgoing } from "./outgoing.js";
import { EDGES, edgeFrames, LOG_RECORD, LOG_TOPIC } from "./protocol.js";
import { addressOf, listen } from "./sockets.js";

/** @typedef {import("./protocol.js").Subscribe} Subscribe */

const MOST_SUBSCRIPTIONS = 256;
const MOST_BYTES = 128 * 2 ** 20; // The largest number of bytes in flight to all visitors together.
const EARLY_RECORDS = 256;
/** The largest number of messages that one connection may leave unread. */
export const MOST_UNREAD = 256;

/** A topic, and the visitors that have subscribed to it. */
class Topic {
  /** @type {Visitor[]} */
  visitors = [];

  /**
   * @param {Output} declared
   * @param {import("./outlet.js").OutputPort | null} port null for the log
   */
  constructor(declared, port) {
    this.declared = declared;
    this.port = port;
  }
}

/**
 * One subscription of a visitor.
 * @extends {Edge<Outgoing>}
 */
class Visitor extends Edge {
  /**
   * @param {Topic} topic
   * @param {Subscribe} request
   * @param {Buffer} peer
   * @param {Gateway} gateway
   */
  constructor(topic, request, peer, gateway) {
    super(request, (message) => gateway.transmit(this, message), () => {});
    this.topic = topic;
    this.name = request.topic;
    this.gateway = gateway;
    this.key = keyOf(peer, request.subscription);
    this.attach(peer, request);
  }

  /** @override */
  hasRoom() {
    const others = this.gateway.bytesUnderWay();
    return super.hasRoom() && (others === 0 || others < MOST_BYTES);
  }

  /**
   * Called when a message was not sent, because the visitor has left too many messages unread.
   * @param {number} size
   */
  notSent(size) {
    this.sent -= 1;
    this.dropped += 1;
    this.credit(1, size);
  }
}

/** @param {Buffer} peer @param {number} subscription */
const keyOf = (peer, subscription) => `${peer.toString("hex")}/${subscription}`;

export class Gateway {
  #socket;
  /** @type {Map<string, Topic>} */
  #topics = new Map();
  /** @type {Map<string, Visitor>} */
  #visitors = new Map();
  /** @type {Outgoing[] | null} */
  #early = [];
  #records = 0n;

  /**
   * @param {import("zeromq").Router} socket
   * @param {Iterable<import("./outlet.js").OutputPort>} outputs
   */
  constructor(socket, outputs) {
    this.#socket = socket;
    this.endpoint = addressOf(socket);
    for (const port of outputs) this.#topics.set(port.topic, new Topic(port.declared, port));
    this.#topics.set(LOG_TOPIC, new Topic(new Output("gateway", "log", { type: LOG_RECORD }), null));
    listen(socket, (frames) => {
      try {
        this.#handle(frames);
      } catch (error) {
        // Invalid frames get no answer.
        if (!(error instanceof BadMessage)) throw error;
      }
    });
    this.sweeping = setInterval(() => this.#sweep(), 1000);
  }

  bytesUnderWay() {
    let sum = 0;
    for (const visitor of this.#visitors.values()) sum += visitor.bytesUnderWay;
    return sum;
  }

  counters() {
    return [...this.#visitors.values()].map(({ name, sent, dropped }) => ({ topic: name, sent, dropped }));
  }

  /**
   * Publishes a log record. Until the first visitor subscribes to the log, the newest records are kept for it.
   * @param {{ time_ns: bigint, level: string, component: string, text: string }} record
   */
  tell(record) {
    const topic = /** @type {Topic} */ (this.#topics.get(LOG_TOPIC));
    const message = new Outgoing(topic.declared.schema, record, { sequence: this.#records, source: 0, trace: 0n });
    this.#records += 1n;
    for (const visitor of topic.visitors) visitor.send(message);
    this.#early?.push(message);
    if (this.#early && this.#early.length > EARLY_RECORDS) this.#early.shift();
  }

  /** Tells all visitors that no more messages follow, and closes the socket. */
  close() {
    clearInterval(this.sweeping);
    for (const visitor of this.#visitors.values()) {
      this.#send([visitor.peer ?? bytesOf(""), ...edgeFrames("Ended", { subscription: visitor.subscription })]);
    }
    this.#socket.close();
  }

  /**
   * @param {Visitor} visitor
   * @param {Outgoing} message
   * @returns {number}
   */
  transmit(visitor, message) {
    const size = message.size(visitor.payloads);
    this.#socket.send([/** @type {Buffer} */ (visitor.peer), ...message.frames(
      bytesOf(visitor.name), visitor.subscription, visitor.payloads)]).catch(() => visitor.notSent(size));
    return size;
  }

  /** @param {Uint8Array[]} frames */
  #send(frames) { this.#socket.send(frames).catch(() => {}); }

  /** Removes visitors that have disconnected without unsubscribing. */
  #sweep() {
    const peers = new Map([...this.#visitors.values()].map((visitor) => [visitor.key.split("/")[0], visitor.peer]));
    for (const [key, peer] of peers) {
      this.#socket.send([/** @type {Buffer} */ (peer), bytesOf("")]).catch((error) => {
        if (error.code !== "EHOSTUNREACH") return;
        for (const visitor of [...this.#visitors.values()]) {
          if (visitor.key.startsWith(`${key}/`)) this.#dismiss(visitor);
        }
      });
    }
  }

  /** @param {Buffer[]} frames */
  #handle(frames) {
    if (frames.length !== 4 || frames[1].length > 0) return;
    const [peer, , name, body] = frames;
    const kind = textOf(name.subarray(0, 32));
    if (!["Subscribe", "Credit", "Unsubscribe"].includes(kind)) return;
    const message = EDGES.get(kind)?.decode(body);
    if (kind === "Subscribe") return this.#subscribe(peer, message);
    const visitor = this.#visitors.get(keyOf(peer, message.subscription));
    if (!visitor) return;
    if (kind === "Credit") visitor.credit(message.messages, message.bytes);
    else this.#dismiss(visitor);
  }

  /**
   * Returns why a subscription is refused, or an empty text if it is accepted.
   * @param {Buffer} peer
   * @param {Subscribe} request
   * @returns {string}
   */
  #objection(peer, request) {
    const topic = this.#topics.get(request.topic);
    const mine = [...this.#visitors.keys()].filter((key) => key.startsWith(keyOf(peer, 0).slice(0, -1))).length;
    if (!topic) return `no topic '${request.topic.slice(0, TOPIC_BYTES)}' here`;
    if (request.fingerprint !== 0n && request.fingerprint !== topic.declared.schema.fingerprint) {
      return "the message types differ";
    }
    if (request.policy !== "drop_oldest" && request.policy !== "latest") {
      return `a visitor may not ask for the policy '${request.policy.slice(0, 20)}'; drop_oldest or latest`;
    }
    if (request.payloads !== "none" && request.payloads !== "inline") {
      return `a visitor may not ask for payloads '${request.payloads.slice(0, 20)}'; none or inline`;
    }
    if (request.window_messages > WINDOW_MESSAGES || request.window_bytes > WINDOW_BYTES) {
      return `the window is too large; at most ${WINDOW_MESSAGES} messages and ${WINDOW_BYTES} bytes`;
    }
    if (mine < SUBSCRIPTIONS && this.#visitors.size < MOST_SUBSCRIPTIONS) return "";
    return `too many subscriptions; at most ${SUBSCRIPTIONS} of one visitor and ${MOST_SUBSCRIPTIONS} in all`;
  }

  /**
   * @param {Buffer} peer
   * @param {Subscribe} request
   */
  #subscribe(peer, request) {
    const known = this.#visitors.get(keyOf(peer, request.subscription));
    if (known) this.#dismiss(known);
    const error = this.#objection(peer, request);
    const topic = this.#topics.get(request.topic);
    this.#send([peer, ...edgeFrames("Subscribed", { subscription: request.subscription,
      topic: request.topic.slice(0, TOPIC_BYTES), type: topic?.declared.schema.name ?? "",
      fingerprint: topic?.declared.schema.fingerprint ?? 0n, schema: topic?.declared.schemaText ?? "", error })]);
    if (error || !topic) return;
    const visitor = new Visitor(topic, request, peer, this);
    this.#visitors.set(visitor.key, visitor);
    topic.visitors.push(visitor);
    if (topic.port) this.#begin(topic, topic.port, visitor);
    else this.#beginLog(visitor);
  }

  /** @param {Visitor} visitor */
  #beginLog(visitor) {
    for (const record of this.#early ?? []) visitor.send(record);
    this.#early = null;
  }

  /**
   * @param {Topic} topic
   * @param {import("./outlet.js").OutputPort} port
   * @param {Visitor} visitor
   */
  #begin(topic, port, visitor) {
    if (port.last) visitor.send(port.last);
    port.tap ??= (message) => { for (const one of topic.visitors) one.send(message); };
  }

  /** @param {Visitor} visitor */
  #dismiss(visitor) {
    const { topic } = visitor;
    this.#visitors.delete(visitor.key);
    topic.visitors = topic.visitors.filter((one) => one !== visitor);
    if (topic.visitors.length === 0 && topic.port) topic.port.tap = null;
  }
}
