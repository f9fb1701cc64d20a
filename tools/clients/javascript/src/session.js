// SPDX-License-Identifier: Apache-2.0
// The protocol of subscriptions at one endpoint (docs/wire_format.md, section 3), without sockets: the caller passes
// the frames that arrive to a Session, and sends the frames in its list `outgoing`.
import { TOPIC_BYTES, WINDOW_BYTES, WINDOW_MESSAGES } from "./bounds.js";
import { bytesOf, textOf } from "./bytes.js";
import { Schema } from "./codec.js";
import { BadMessage, Refused, TrainyardError } from "./errors.js";
import { HEADER_BYTES, readHeader } from "./header.js";

/** @typedef {import("./header.js").Header} Header */
/** @typedef {import("./decoder.js").Integers} Integers */

/**
 * The options of a subscription, which apply to each of its topics.
 * @typedef {object} Wish
 * @property {"none" | "inline"} payloads
 * @property {number} window
 * @property {number} windowBytes
 * @property {"drop_oldest" | "latest"} policy
 * @property {Integers} integers
 */

// The number that a subscriber gives instead of an edge of the plan, because it is a visitor.
const VISITOR = 0xffffffff;
const NUMBER = "  u32 subscription\n";
const SUBSCRIBE = new Schema(`Subscribe {\n${NUMBER}  string topic\n  u32 edge\n  u64 fingerprint\n  string policy\n` +
  "  u64 window_messages\n  u64 window_bytes\n  string payloads\n  u32 process_index\n}\n");
const SUBSCRIBED = new Schema(`Subscribed {\n${NUMBER}  string topic\n  string type\n  u64 fingerprint\n` +
  "  string schema\n  string error\n}\n");
const CREDIT = new Schema(`Credit {\n${NUMBER}  u64 messages\n  u64 bytes\n}\n`);
const JUST_NUMBER = new Schema(`Number {\n${NUMBER}}\n`);
const EMPTY = new Uint8Array(0);

/**
 * Throws TrainyardError if the options are not valid, so that a publisher would refuse the subscription.
 * @param {readonly string[]} topics
 * @param {Wish} wish
 */
export function checkWish(topics, wish) {
  for (const [name, given, most] of /** @type {[string, number, number][]} */ ([
    ["window", wish.window, WINDOW_MESSAGES], ["windowBytes", wish.windowBytes, WINDOW_BYTES]])) {
    if (!Number.isInteger(given) || given < 1 || given > most) {
      throw new TrainyardError(`${name} = ${given}; allowed are 1 to ${most}`);
    }
  }
  for (const [name, given, allowed] of /** @type {[string, string, string[]][]} */ ([
    ["payloads", wish.payloads, ["none", "inline"]], ["policy", wish.policy, ["drop_oldest", "latest"]],
    ["integers", wish.integers, ["bigint", "number"]]])) {
    if (!allowed.includes(given)) throw new TrainyardError(`${name} = '${given}'; allowed are ${allowed.join(" and ")}`);
  }
  for (const topic of topics) {
    const size = bytesOf(topic).length;
    if (size < 1 || size > TOPIC_BYTES) {
      throw new TrainyardError(`the name of a topic has ${size} bytes; allowed are 1 to ${TOPIC_BYTES}`);
    }
  }
}

/** The subscription to one topic in a session. */
class Feed {
  /**
   * @param {number} number
   * @param {string} topic
   */
  constructor(number, topic) {
    this.number = number;
    this.topic = topic;
    /** @type {Schema | null} */
    this.schema = null;
    this.schemaText = "";
    this.missed = 0;
    /** The last sequence number of each sender. @type {Map<number, bigint>} */
    this.last = new Map();
    this.accepted = false;
    this.ended = false;
    this.flushing = false;
    // The messages that were handled, but whose credit has not been returned yet.
    this.messages = 0;
    this.bytes = 0;
  }

  begin() {
    this.accepted = this.ended = this.flushing = false;
    this.messages = this.bytes = 0;
  }

  /**
   * Counts the messages that were missed before this message, from the sequence numbers. The numbers of a publisher
   * that was restarted begin again at 0.
   * @param {Header} header
   */
  count(header) {
    const last = this.last.get(header.source);
    if (last !== undefined && header.sequence > last) this.missed += Number(header.sequence - last) - 1;
    // No run has so many components, so the publisher is sending invalid numbers.
    else if (this.last.size >= 65536) this.last.clear();
    this.last.set(header.source, header.sequence);
  }
}

/**
 * A message that has arrived but has not been decoded.
 * @typedef {object} Arrival
 * @property {Session} session
 * @property {Feed} feed
 * @property {Schema} schema
 * @property {Header} header
 * @property {Uint8Array[]} frames
 */

/** The subscriptions at one endpoint, which share a connection. */
export class Session {
  /**
   * @param {string} endpoint
   * @param {readonly string[]} topics
   * @param {Wish} wish
   */
  constructor(endpoint, topics, wish) {
    this.endpoint = endpoint;
    this.wish = wish;
    this.feeds = topics.map((topic, number) => new Feed(number, topic));
    /** @type {Uint8Array[][]} */
    this.outgoing = [];
  }

  /** Must be called after the socket has connected or reconnected. Subscribes with the full window. */
  connected() {
    this.outgoing = [];
    for (const feed of this.feeds) {
      feed.begin();
      this.#send("Subscribe", SUBSCRIBE.encode({
        subscription: feed.number, topic: feed.topic, edge: VISITOR, fingerprint: 0, policy: this.wish.policy,
        window_messages: this.wish.window, window_bytes: this.wish.windowBytes, payloads: this.wish.payloads,
        process_index: 0 }).body);
    }
  }

  /** Returns true when the publisher has accepted every subscription. @returns {boolean} */
  get accepted() { return this.feeds.every((feed) => feed.accepted); }

  /** Returns true when the publisher has announced that no more messages follow. @returns {boolean} */
  get ended() { return this.feeds.every((feed) => feed.ended); }

  /** @returns {number} */
  get missed() { return this.feeds.reduce((sum, feed) => sum + feed.missed, 0); }

  /**
   * Handles frames that have arrived. If they contain a message, returns it. Throws BadMessage, or Refused if the
   * publisher has refused a subscription.
   * @param {Uint8Array[]} frames
   * @returns {Arrival | null}
   */
  take(frames) {
    if (frames[0].length === 0) {
      if (frames.length === 3) this.#control(textOf(frames[1].subarray(0, 32)), frames[2]);
      return null;
    }
    if (frames.length < 3 || frames[1].length !== HEADER_BYTES) return null;
    const header = readHeader(frames[1]);
    const feed = this.feeds[header.subscription];
    // A message that arrives before the subscription has been accepted belongs to an earlier connection.
    if (!feed?.schema || !feed.accepted || textOf(frames[0]) !== feed.topic) return null;
    header.topic = feed.topic;
    if (header.payloads !== frames.length - 3) {
      throw new BadMessage(`a message on '${feed.topic}' has ${frames.length} frames and ${header.payloads} payloads`);
    }
    if (header.fingerprint !== feed.schema.fingerprint) {
      throw new BadMessage(`a message on '${feed.topic}' has fingerprint ${hexadecimal(header.fingerprint)}; ` +
        `${feed.schema.name} has ${hexadecimal(feed.schema.fingerprint)}`);
    }
    feed.count(header);
    return { session: this, feed, schema: feed.schema, header, frames };
  }

  /**
   * Decodes a message and returns its credit. Throws BadMessage.
   * @param {Arrival} arrival
   * @returns {any}
   */
  open({ feed, schema, frames }) {
    feed.messages += 1;
    for (let i = 2; i < frames.length; ++i) feed.bytes += frames[i].length;
    if (feed.flushing || feed.messages * 2 >= this.wish.window || feed.bytes * 2 >= this.wish.windowBytes) {
      this.#returnCredit(feed);
    }
    return schema.decode(frames[2], frames.slice(3));
  }

  /** Unsubscribes. */
  close() {
    for (const feed of this.feeds) this.#send("Unsubscribe", JUST_NUMBER.encode({ subscription: feed.number }).body);
  }

  /**
   * @param {string} kind
   * @param {Uint8Array} body
   */
  #send(kind, body) { this.outgoing.push([EMPTY, bytesOf(kind), body]); }

  /** @param {Feed} feed */
  #returnCredit(feed) {
    if (feed.messages > 0) {
      this.#send("Credit", CREDIT.encode({ subscription: feed.number, messages: feed.messages, bytes: feed.bytes }).body);
    }
    feed.messages = feed.bytes = 0;
  }

  /**
   * @param {string} kind
   * @param {Uint8Array} body
   */
  #control(kind, body) {
    if (kind === "Subscribed") return this.#subscribed(SUBSCRIBED.decode(body));
    if ((kind !== "Flush" && kind !== "Ended") || body.length !== 4) return;
    const feed = this.feeds[JUST_NUMBER.decode(body).subscription];
    if (!feed) return;
    if (kind === "Ended") {
      feed.ended = true;
    } else {
      feed.flushing = true;
      this.#returnCredit(feed);
    }
  }

  /** @param {{ subscription: number, fingerprint: bigint, schema: string, error: string }} answer */
  #subscribed(answer) {
    const feed = this.feeds[answer.subscription];
    if (!feed) throw new BadMessage(`${this.endpoint} answered subscription ${answer.subscription}, which there is not`);
    if (answer.error) throw new Refused(`topic '${feed.topic}' at ${this.endpoint}: ${answer.error}`);
    // The schema is compiled only once, even if the connection is restored several times.
    if (!feed.schema || feed.schemaText !== answer.schema) {
      const schema = new Schema(answer.schema, { integers: this.wish.integers });
      if (schema.fingerprint !== answer.fingerprint) {
        throw new BadMessage(`topic '${feed.topic}' at ${this.endpoint}: the schema of ${schema.name} has the ` +
          `fingerprint ${hexadecimal(schema.fingerprint)}, not ${hexadecimal(answer.fingerprint)}`);
      }
      feed.schema = schema;
      feed.schemaText = answer.schema;
    }
    feed.accepted = true;
  }
}

/** @param {bigint} fingerprint @returns {string} */
const hexadecimal = (fingerprint) => fingerprint.toString(16).padStart(16, "0");
