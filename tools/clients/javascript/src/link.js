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

/**
 * The connection to one endpoint, with its session. It subscribes after each handshake, that is, also after a
 * reconnection, and puts the messages that arrive into a queue.
 */
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
      // A publisher that respects the windows never has more messages in flight.
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

  /**
   * Sends the frames that the session has prepared. A socket allows only one send operation at a time, so they are sent
   * one after another.
   */
  async flush() {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let frames = this.session.outgoing.shift(); frames; frames = this.session.outgoing.shift()) {
        await this.#socket.send(frames);
      }
    } catch {
      // The publisher does not read. If it has ended, the client subscribes again after the next handshake.
    } finally {
      this.#sending = false;
    }
  }

  /** Unsubscribes, and closes the socket. ZeroMQ may take up to half a second to send the last frames. */
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    this.session.close();
    this.#socket.linger = 500;
    await this.flush();
    this.#socket.close();
  }
}
