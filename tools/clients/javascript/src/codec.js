// SPDX-License-Identifier: Apache-2.0
// The codec alone. It uses nothing of node, so it works in a browser, too.
import { compileDecoder } from "./decoder.js";
import { compileEncoder } from "./encoder.js";
import { fingerprint, parseSchema } from "./schema.js";

export { BadMessage, Refused, RunEnded, Timeout, TrainyardError } from "./errors.js";
export { readHeader } from "./header.js";
export { Tensor } from "./tensor.js";
/** @typedef {import("./header.js").Header} Header */
/** @typedef {import("./decoder.js").Integers} Integers */

/** A message type, from its schema text alone. */
export class Schema {
  #decode;
  #encode;

  /**
   * Throws BadMessage if the text is not a schema.
   * @param {string} text
   * @param {{ integers?: Integers }} options `integers`: what u64 and i64 become. With "number", a message with an
   *   integer that a number cannot represent exactly is refused.
   */
  constructor(text, { integers = "bigint" } = {}) {
    this.structs = parseSchema(text);
    /** @type {string} */
    this.name = [...this.structs.keys()][0];
    this.fingerprint = fingerprint(text);
    this.#decode = compileDecoder(this.structs, integers);
    this.#encode = compileEncoder(this.structs);
  }

  /**
   * Returns a message. Tensors have their elements only if `payloads` has them. Throws BadMessage.
   * @param {Uint8Array} body
   * @param {readonly import("./tensor.js").Payload[] | null} payloads
   * @returns {any}
   */
  decode(body, payloads = null) { return this.#decode(body, payloads); }

  /**
   * Returns the body and the payloads of a message. Throws TrainyardError if a value does not fit its type.
   * @param {unknown} message
   * @returns {{ body: Uint8Array, payloads: Uint8Array[] }}
   */
  encode(message) { return this.#encode(message); }
}
