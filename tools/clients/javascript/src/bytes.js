// SPDX-License-Identifier: Apache-2.0
// Reads and writes the bytes of a body.
import { OBJECTS } from "./bounds.js";
import { BadMessage } from "./errors.js";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * Returns the text that bytes contain. Bytes that are not UTF-8 become replacement characters.
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export const textOf = (bytes) => decoder.decode(bytes);

/**
 * @param {string} text
 * @returns {Uint8Array}
 */
export const bytesOf = (text) => encoder.encode(text);

/** Reads the values of a body one after another. If the body is too short, the DataView throws a RangeError. */
export class Reader {
  /**
   * @param {Uint8Array} body
   * @param {readonly import("./tensor.js").Payload[] | null} payloads null if tensors get no elements
   */
  constructor(body, payloads) {
    this.body = body;
    this.view = new DataView(body.buffer, body.byteOffset, body.byteLength);
    this.payloads = payloads;
    this.at = 0;
    this.objectsInContainers = 0;
  }

  /** @returns {number} */
  u8() { return this.view.getUint8(this.at++); }

  /** @returns {number} */
  u32() {
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  /** @returns {boolean} */
  bool() {
    const value = this.u8();
    if (value > 1) throw new BadMessage(`message has ${value} for a bool; 0 or 1`);
    return value === 1;
  }

  /**
   * Reads a count of elements that take at least `size` bytes each. Throws if the remaining bytes are not enough for
   * them.
   * @param {number} size
   * @returns {number}
   */
  count(size) {
    const count = this.u32();
    const left = this.body.length - this.at;
    if (count * size > left) {
      throw new BadMessage(`message claims ${count} elements of ${size} bytes or more; ${left} bytes remain`);
    }
    return count;
  }

  /**
   * Reads a count of objects that take at least `size` bytes each, and checks the limit for objects in a message.
   * @param {number} size
   * @returns {number}
   */
  objects(size) {
    const count = this.count(size);
    this.objectsInContainers += count;
    if (this.objectsInContainers <= OBJECTS) return count;
    throw new BadMessage(`message contains more than ${OBJECTS} objects in lists and maps`);
  }

  /** @returns {string} */
  text() {
    const end = this.count(1) + this.at;
    const { body } = this;
    // Most texts in messages are short and ASCII. For such texts, this loop is faster than a TextDecoder.
    let text = "";
    if (end - this.at <= 24) {
      let at = this.at;
      for (; at < end && body[at] < 128; ++at) text += String.fromCharCode(body[at]);
      if (at === end) {
        this.at = end;
        return text;
      }
    }
    text = decoder.decode(body.subarray(this.at, end));
    this.at = end;
    return text;
  }
}

/** Writes values one after another into a buffer that grows as needed. */
export class Writer {
  constructor() {
    this.bytes = new Uint8Array(256);
    this.view = new DataView(this.bytes.buffer);
    this.size = 0;
    /** @type {Uint8Array[]} */
    this.payloads = [];
  }

  /**
   * Returns the offset for the next `size` bytes, for which the buffer is enlarged if necessary.
   * @param {number} size
   * @returns {number}
   */
  room(size) {
    const at = this.size;
    this.size += size;
    if (this.size > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.size, 2 * this.bytes.length));
      grown.set(this.bytes);
      this.bytes = grown;
      this.view = new DataView(grown.buffer);
    }
    return at;
  }

  /** @param {number} value */
  u8(value) {
    const at = this.room(1); // This comes first, because it may replace the view.
    this.view.setUint8(at, value);
  }

  /** @param {number} value */
  u32(value) {
    const at = this.room(4);
    this.view.setUint32(at, value, true);
  }

  /** @param {string} value */
  text(value) {
    const bytes = encoder.encode(value);
    this.u32(bytes.length);
    const at = this.room(bytes.length);
    this.bytes.set(bytes, at);
  }

  /** @returns {Uint8Array} */
  done() { return this.bytes.slice(0, this.size); }
}
