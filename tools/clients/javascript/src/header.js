// SPDX-License-Identifier: Apache-2.0
// The header of 56 bytes that precedes the body of every message (docs/wire_format.md, section 4).
import { PAYLOADS } from "./bounds.js";
import { BadMessage } from "./errors.js";

export const HEADER_BYTES = 56;
const MAGIC = 0x44595254;

/**
 * @typedef {object} Header
 * @property {string} topic
 * @property {number} payloads
 * @property {bigint} fingerprint
 * @property {bigint} sequence the number of the message among those of its sender: 0, 1, 2, ...
 * @property {number} source the number of the sending component; always 0 on /log
 * @property {number} subscription
 * @property {bigint} sendTimeNs nanoseconds since 1970
 * @property {bigint} trace the number of the batch that caused this message, or 0
 * @property {bigint} handles a set of bits: payload i is a handle; only members receive handles
 */

/**
 * Returns the header in a frame. Throws BadMessage if the frame is not a header of wire version 1.
 * @param {Uint8Array} frame
 * @param {string} topic
 * @param {boolean} mayHaveHandles
 * @returns {Header}
 */
export function readHeader(frame, topic = "", mayHaveHandles = false) {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length !== HEADER_BYTES || view.getUint32(0, true) !== MAGIC || view.getUint16(4, true) !== 1) {
    throw new BadMessage(`not a header of wire version 1: ${frame.length} bytes`);
  }
  const payloads = view.getUint16(6, true);
  const hasHandles = view.getUint32(48, true) !== 0 || view.getUint32(52, true) !== 0;
  if (payloads > PAYLOADS || (hasHandles && !mayHaveHandles)) {
    throw new BadMessage(`a message has ${payloads} payloads or handles; allowed are at most ${PAYLOADS} payloads and ` +
      "no handles");
  }
  return {
    topic,
    payloads,
    fingerprint: view.getBigUint64(8, true),
    sequence: view.getBigUint64(16, true),
    source: view.getUint32(24, true),
    subscription: view.getUint32(28, true),
    sendTimeNs: view.getBigInt64(32, true),
    trace: view.getBigUint64(40, true),
    handles: hasHandles ? view.getBigUint64(48, true) : 0n,
  };
}

/**
 * Returns a frame with the header of a message.
 * @param {Omit<Header, "topic">} header
 * @returns {Uint8Array}
 */
export function writeHeader(header) {
  const frame = new Uint8Array(HEADER_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, header.payloads, true);
  view.setBigUint64(8, header.fingerprint, true);
  view.setBigUint64(16, header.sequence, true);
  view.setUint32(24, header.source, true);
  view.setUint32(28, header.subscription, true);
  view.setBigInt64(32, header.sendTimeNs, true);
  view.setBigUint64(40, header.trace, true);
  view.setBigUint64(48, header.handles, true);
  return frame;
}
