// SPDX-License-Identifier: Apache-2.0
// Messages that are being sent. A message is encoded once, and every receiver gets the tensors in the way that it has
// requested.
import { writeHeader } from "../header.js";

const NOTHING = new Uint8Array(0);

/** Returns the time in nanoseconds since 1970, computed with the monotonic clock. @returns {bigint} */
const now = () => BEGAN + process.hrtime.bigint();
const BEGAN = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();

/** An encoded message. */
export class Outgoing {
  /**
   * @param {import("../codec.js").Schema} schema
   * @param {unknown} message
   * @param {{ sequence: bigint, source: number, trace: bigint }} origin
   */
  constructor(schema, message, { sequence, source, trace }) {
    const { body, payloads } = schema.encode(message);
    this.body = body;
    this.payloads = payloads;
    this.payloadBytes = payloads.reduce((sum, payload) => sum + payload.length, 0);
    this.header = { payloads: payloads.length, fingerprint: schema.fingerprint, sequence, source, subscription: 0,
      sendTimeNs: now(), trace, handles: 0n };
  }

  /**
   * Returns the number of bytes for which a receiver will return credit.
   * @param {string} mode what the receiver has requested: "none", "inline" or "handle"
   * @returns {number}
   */
  size(mode) { return this.body.length + (mode === "none" ? 0 : this.payloadBytes); }

  /**
   * Returns the frames of the message for one receiver. Tensors are always sent as bytes, because Node.js cannot make
   * memory that other processes can map.
   * @param {Uint8Array} topic
   * @param {number} subscription
   * @param {string} mode
   * @returns {Uint8Array[]}
   */
  frames(topic, subscription, mode) {
    const payloads = mode === "none" ? this.payloads.map(() => NOTHING) : this.payloads;
    return [topic, writeHeader({ ...this.header, subscription }), this.body, ...payloads];
  }
}
