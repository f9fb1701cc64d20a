// SPDX-License-Identifier: Apache-2.0
// The sockets of a client.
import { Dealer } from "zeromq";
import { ANSWER_BYTES, BODY_BYTES, PAYLOAD_BYTES } from "./bounds.js";

/** @typedef {import("./session.js").Session} Session */
/** @typedef {import("./session.js").Arrival} Arrival */

/**
 * Returns a socket that is connected to a registry.
 * @param {string} address
 * @returns {Dealer}
 */
export function registrySocket(address) {
  const socket = new Dealer({ linger: 0, maxMessageSize: ANSWER_BYTES, receiveHighWaterMark: 64, sendTimeout: 1000 });
  socket.connect(address);
  return socket;
}

/** The connection of a session. It subscribes after each handshake, and puts what arrives into a queue. */
export class Link {
  #socket;
  #sending = false;
  #closed = false;

  /**
   * @param {Session} session
   * @param {(arrivals: Arrival[], error: unknown) => Promise<void> | null} deliver gets all that arrives; returns a
   *   promise if nothing more should be read until it is fulfilled
   */
  constructor(session, deliver) {
    this.session = session;
    const { window, payloads } = session.wish;
    this.#socket = new Dealer({
      linger: 0, sendTimeout: 1000, maxMessageSize: payloads === "inline" ? PAYLOAD_BYTES : BODY_BYTES,
      // A publisher that keeps to the windows never has more messages under way.
      receiveHighWaterMark: (window + 2) * session.feeds.length + 16 });
    this.#socket.events.on("handshake", () => {
      session.connected();
      this.flush();
    });
    this.#socket.connect(session.endpoint);
    this.#receive(deliver);
  }

  /** @param {(arrivals: Arrival[], error: unknown) => Promise<void> | null} deliver */
  async #receive(deliver) {
    while (!this.#closed) {
      let error = null;
      const arrivals = [];
      try {
        const arrival = this.session.take(await this.#socket.receive());
        if (arrival) arrivals.push(arrival);
      } catch (caught) {
        if (this.#closed) return;
        error = caught;
      }
      this.flush();
      const wait = deliver(arrivals, error);
      if (wait) await wait;
    }
  }

  /** Sends what the session wants to send, one message after another, as the socket demands. */
  async flush() {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let frames = this.session.outgoing.shift(); frames; frames = this.session.outgoing.shift()) {
        await this.#socket.send(frames);
      }
    } catch {
      // The publisher does not read what is sent to it. If it is gone, the next handshake subscribes again.
    } finally {
      this.#sending = false;
    }
  }

  /** Unsubscribes, and closes the socket. The last messages may still be sent within half a second. */
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    this.session.close();
    this.#socket.linger = 500;
    await this.flush();
    this.#socket.close();
  }
}
