// SPDX-License-Identifier: Apache-2.0
// The codec without the rest of the package. It uses no modules of Node.js, so it also works in a browser.
import { compileDecoder } from "./decoder.js";
import { compileEncoder } from "./encoder.js";
import { fingerprint, parseSchema } from "./schema.js";

export { BadMessage, Refused, RunEnded, Timeout, TrainyardError } from "./errors.js";
export { readHeader } from "./header.js";
export { Tensor } from "./tensor.js";
/** @typedef {import("./header.js").Header} Header */
/** @typedef {import("./decoder.js").Integers} Integers */

/** A message type that is described by a schema text. */
export class Schema {
  #decode;
  #encode;

  /**
   * Throws BadMessage if the text is not a schema.
   * @param {string} text
   * @param {{ integers?: Integers }} options `integers` is the type to which u64 and i64 are decoded. With "number",
   *   decoding throws an error if an integer cannot be represented exactly as a number.
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
   * Decodes a message. Tensors have elements only if `payloads` contains them. Throws BadMessage if the bytes do not
   * match the schema.
   * @param {Uint8Array} body
   * @param {readonly import("./tensor.js").Payload[] | null} payloads
   * @returns {any}
   */
  decode(body, payloads = null) { return this.#decode(body, payloads); }

  /**
   * Encodes a message: returns its body and its payloads. Throws TrainyardError if a value does not fit its type.
   * @param {unknown} message
   * @returns {{ body: Uint8Array, payloads: Uint8Array[] }}
   */
  encode(message) { return this.#encode(message); }
}
