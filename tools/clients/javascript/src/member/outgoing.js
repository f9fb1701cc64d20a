// SPDX-License-Identifier: Apache-2.0
// Messages on their way out: encoded once, and sent to every receiver in the way that it has asked for.
import { writeHeader } from "../header.js";

const NOTHING = new Uint8Array(0);

/** The time in nanoseconds since 1970, with the resolution of the clock that never jumps. @returns {bigint} */
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
   * Returns the bytes that a receiver counts.
   * @param {string} mode what it has asked for: "none", "inline" or "handle"
   * @returns {number}
   */
  size(mode) { return this.body.length + (mode === "none" ? 0 : this.payloadBytes); }

  /**
   * Returns the frames of the message. The bytes of tensors are in it: node cannot make memory that others may map.
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
