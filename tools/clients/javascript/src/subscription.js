// SPDX-License-Identifier: Apache-2.0
import { SUBSCRIPTIONS } from "./bounds.js";
import { Timeout } from "./errors.js";
import { Link } from "./link.js";
import { Session } from "./session.js";

/** @typedef {import("./header.js").Header} Header */
/** @typedef {import("./session.js").Arrival} Arrival */
/** @typedef {import("./session.js").Wish} Wish */
/** @typedef {{ header: Header, message: any }} Received */

const ANSWER_MS = 10_000; // How long a publisher may take to accept a subscription.
// A process that has ended for good remains in the registry's list. After this time, it is enough if the other
// publishers have accepted.
const GONE_MS = 2_000;
const LOOK_MS = 200; // How often a subscription that receives no messages checks whether the run is alive.

/**
 * An asynchronous iterator over the messages of one or several topics, from all of their publishers. It ends when the
 * run or all publishers end. Leaving a `for await` loop unsubscribes, and so does close().
 * @implements {AsyncIterableIterator<Received>}
 */
export class Subscription {
  /** The number of messages that the program has received. */
  received = 0;
  /** @type {Link[]} */
  #links = [];
  /** @type {(Arrival | { error: unknown })[]} */
  #queue = [];
  #first = 0; // The index of the first queued message. Removing elements one by one would be slow.
  #wake = () => {};
  #goOn = () => {};
  /** @type {Promise<void> | null} */
  #begun = null;
  #closed = false;

  /**
   * For Run.subscribe() only.
   * @param {import("./run.js").Run} run
   * @param {readonly string[]} topics
   * @param {Wish} wish
   * @param {number | null} timeout
   * @param {AbortSignal | undefined} signal
   */
  constructor(run, topics, wish, timeout, signal) {
    this.run = run;
    this.topics = topics;
    this.wish = wish;
    this.timeout = timeout;
    this.signal = signal;
    this.onAbort = () => this.#wake();
    signal?.addEventListener("abort", this.onAbort);
  }

  /**
   * The number of messages that were sent but did not arrive, because this program did not read fast enough or, with
   * the policy "latest", because a newer message replaced them.
   * @returns {number}
   */
  get missed() { return this.#links.reduce((sum, link) => sum + link.session.missed, 0); }

  [Symbol.asyncIterator]() { return this; }

  /** @returns {Promise<IteratorResult<Received, undefined>>} */
  async next() {
    let value = null;
    try {
      value = await this.receive(this.timeout);
    } finally {
      // close() must be called here, because `for await` calls return() neither at the end nor after an error.
      if (!value) await this.close();
    }
    return value ? { done: false, value } : { done: true, value: undefined };
  }

  /** @returns {Promise<IteratorResult<Received, undefined>>} */
  async return() {
    await this.close();
    return { done: true, value: undefined };
  }

  /**
   * Returns the next header and message, or null when the run has ended. Throws Timeout if no message arrives within
   * `timeout` milliseconds; with null, waits as long as the run lives. Throws the reason of an AbortSignal.
   * @param {number | null} timeout
   * @returns {Promise<Received | null>}
   */
  async receive(timeout = this.timeout) {
    if (this.#first === this.#queue.length && !(await this.#wait(timeout))) return null;
    if (this.signal?.aborted) await this.#abort();
    const arrival = this.#queue[this.#first++];
    if (this.#first === this.#queue.length) {
      this.#queue = [];
      this.#first = 0;
      this.#goOn();
    }
    if ("error" in arrival) throw arrival.error;
    this.received += 1;
    const message = arrival.session.open(arrival);
    if (arrival.session.outgoing.length > 0) for (const link of this.#links) link.flush();
    return { header: arrival.header, message };
  }

  /** Waits until every publisher has accepted the subscription. Otherwise the first receive() waits for this. */
  async ready() {
    this.#begun ??= this.#begin();
    return this.#begun;
  }

  /** Unsubscribes, and drops the messages that have not been read. */
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    this.signal?.removeEventListener("abort", this.onAbort);
    this.#queue = [];
    this.#first = 0;
    this.#wake();
    this.#goOn();
    await Promise.all(this.#links.map((link) => link.close()));
  }

  async #begin() {
    /** @type {Map<string, string[]>} */
    const found = new Map();
    for (const topic of this.topics) {
      for (const endpoint of await this.run.endpoints(topic, { signal: this.signal })) {
        found.set(endpoint, [...(found.get(endpoint) ?? []), topic]);
      }
    }
    if (this.#closed) return;
    for (const [endpoint, topics] of found) {
      for (let at = 0; at < topics.length; at += SUBSCRIPTIONS) {
        const session = new Session(endpoint, topics.slice(at, at + SUBSCRIPTIONS), this.wish);
        this.#links.push(new Link(session, (arrivals, error) => this.#deliver(arrivals, error)));
      }
    }
    try {
      await this.#untilAccepted();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #untilAccepted() {
    for (const began = Date.now(); ;) {
      const missing = this.#links.filter((link) => !link.session.accepted);
      if (missing.length === 0 || this.#closed) return;
      if (missing.length < this.#links.length && Date.now() > began + GONE_MS) return;
      const refused = this.#queue.find((entry) => "error" in entry);
      if (refused && "error" in refused) throw refused.error;
      if (this.signal?.aborted) throw this.signal.reason;
      if (Date.now() > began + ANSWER_MS || !this.run.alive()) {
        throw new Timeout(`${this.#names()} was not acknowledged by ` +
          missing.map((link) => link.session.endpoint).join(", "));
      }
      await this.#pause(100);
    }
  }

  /**
   * Puts messages that have arrived into the queue. If a publisher sends more than the windows allow, the socket is not
   * read until the program has taken messages from the queue.
   * @param {Arrival[]} arrivals
   * @param {unknown} error
   * @returns {Promise<void> | null}
   */
  #deliver(arrivals, error) {
    if (this.#closed) return null;
    this.#queue.push(...arrivals);
    if (error) this.#queue.push({ error });
    this.#wake();
    if (this.#queue.length <= (this.wish.window + 2) * this.topics.length * this.#links.length + 16) return null;
    return new Promise((resolve) => { this.#goOn = resolve; });
  }

  /**
   * Waits until a message has arrived. Returns false if the subscription has ended.
   * @param {number | null} timeout
   * @returns {Promise<boolean>}
   */
  async #wait(timeout) {
    await this.ready();
    const deadline = timeout === null ? Infinity : Date.now() + timeout;
    let asked = false;
    while (this.#first === this.#queue.length && !this.#closed) {
      if (this.signal?.aborted) await this.#abort();
      if (this.#links.every((link) => link.session.ended)) return false;
      // The last messages may arrive after the run has ended.
      if (asked) return false;
      asked = !this.run.alive();
      const left = deadline - Date.now();
      if (left <= 0) throw new Timeout(`no message on ${this.#names()} within ${timeout} ms`);
      await this.#pause(Math.min(LOOK_MS, left));
    }
    return this.#first < this.#queue.length;
  }

  async #abort() {
    await this.close();
    throw this.signal?.reason;
  }

  /**
   * Waits until something happens, but at most for `milliseconds`.
   * @param {number} milliseconds
   * @returns {Promise<void>}
   */
  #pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #names() { return this.topics.map((topic) => `'${topic}'`).join(", "); }
}
