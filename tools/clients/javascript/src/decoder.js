// SPDX-License-Identifier: Apache-2.0
// Compiles a schema into a function that decodes the bodies of messages. The function consists of closures, one for
// each type, because pages with a content security policy cannot evaluate generated source.
import { BODY_BYTES } from "./bounds.js";
import { Reader } from "./bytes.js";
import { BadMessage } from "./errors.js";
import { NUMBERS } from "./schema.js";
import { readTensor } from "./tensor.js";

/** @typedef {import("./schema.js").Type} Type */
/** @typedef {import("./schema.js").Structs} Structs */
/** @typedef {"bigint" | "number"} Integers what u64 and i64 become */
/** @typedef {(reader: Reader) => any} Read */

/**
 * @param {bigint} value
 * @returns {number}
 */
function exact(value) {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw new BadMessage(`message has the integer ${value}, which a number cannot represent; use integers: "bigint"`);
  }
  return number;
}

/** @type {Map<string, (view: DataView, at: number) => number>} */
const SMALL = new Map([
  ["i8", (view, at) => view.getInt8(at)],
  ["i16", (view, at) => view.getInt16(at, true)],
  ["i32", (view, at) => view.getInt32(at, true)],
  ["u8", (view, at) => view.getUint8(at)],
  ["u16", (view, at) => view.getUint16(at, true)],
  ["u32", (view, at) => view.getUint32(at, true)],
  ["f32", (view, at) => view.getFloat32(at, true)],
  ["f64", (view, at) => view.getFloat64(at, true)],
]);

/**
 * Returns the function that reads a number of this kind at an offset.
 * @param {string} kind
 * @param {Integers} integers
 * @returns {(view: DataView, at: number) => number | bigint}
 */
function numberAt(kind, integers) {
  const small = SMALL.get(kind);
  if (small) return small;
  if (kind === "i64") {
    return integers === "bigint" ? (view, at) => view.getBigInt64(at, true) : (view, at) => exact(view.getBigInt64(at, true));
  }
  return integers === "bigint" ? (view, at) => view.getBigUint64(at, true) : (view, at) => exact(view.getBigUint64(at, true));
}

/** Makes the closures for one schema. A struct has only one closure, even if several fields refer to it. */
class Compiler {
  /**
   * @param {Structs} structs
   * @param {Integers} integers
   */
  constructor(structs, integers) {
    this.structs = structs;
    this.integers = integers;
    /** @type {Map<string, Read>} */
    this.compiled = new Map();
  }

  /**
   * @param {Type} type
   * @returns {Read}
   */
  read(type) {
    if (type.kind === "struct") return this.struct(/** @type {string} */ (type.name));
    if (type.element) return this.container(type.kind, type.element);
    if (type.kind === "string") return (reader) => reader.text();
    if (type.kind === "bool") return (reader) => reader.bool();
    if (type.kind === "Tensor") return readTensor;
    return this.number(type.kind);
  }

  /**
   * @param {string} kind
   * @returns {Read}
   */
  number(kind) {
    const size = /** @type {number} */ (NUMBERS.get(kind));
    const at = numberAt(kind, this.integers);
    return (reader) => {
      const value = at(reader.view, reader.at);
      reader.at += size;
      return value;
    };
  }

  /**
   * @param {string} name
   * @returns {Read}
   */
  struct(name) {
    const known = this.compiled.get(name);
    if (known) return known;
    const fields = /** @type {import("./schema.js").Field[]} */ (this.structs.get(name));
    const names = fields.map((field) => field.name);
    const reads = fields.map((field) => this.read(field.type));
    const read = names.includes("__proto__") ? awkwardStruct(names, reads) : plainStruct(names, reads);
    this.compiled.set(name, read);
    return read;
  }

  /**
   * @param {string} kind
   * @param {Type} element
   * @returns {Read}
   */
  container(kind, element) {
    if (kind === "list" && NUMBERS.has(element.kind)) return this.numbers(element.kind);
    const read = this.read(element);
    if (kind === "optional") return (reader) => (reader.bool() ? read(reader) : null);
    if (kind === "map") return (reader) => readMap(reader, read);
    return (reader) => {
      const values = [];
      for (let left = reader.objects(1); left > 0; --left) values.push(read(reader));
      return values;
    };
  }

  /**
   * Returns the function that reads a list of numbers.
   * @param {string} kind
   * @returns {Read}
   */
  numbers(kind) {
    const size = /** @type {number} */ (NUMBERS.get(kind));
    const at = numberAt(kind, this.integers);
    return (reader) => {
      const values = new Array(reader.count(size));
      for (let i = 0; i < values.length; ++i, reader.at += size) values[i] = at(reader.view, reader.at);
      return values;
    };
  }
}

/**
 * @param {string[]} names
 * @param {Read[]} reads
 * @returns {Read}
 */
function plainStruct(names, reads) {
  return (reader) => {
    /** @type {Record<string, unknown>} */
    const value = {};
    for (let i = 0; i < names.length; ++i) value[names[i]] = reads[i](reader);
    return value;
  };
}

/**
 * Returns the function that reads a struct with a field "__proto__". Assigning such a field would set the prototype of
 * the object, so it is defined as a property instead.
 * @param {string[]} names
 * @param {Read[]} reads
 * @returns {Read}
 */
function awkwardStruct(names, reads) {
  return (reader) => {
    const value = {};
    for (let i = 0; i < names.length; ++i) {
      Object.defineProperty(value, names[i], {
        value: reads[i](reader), enumerable: true, writable: true, configurable: true });
    }
    return value;
  };
}

/**
 * @param {Reader} reader
 * @param {Read} read
 * @returns {Map<string, unknown>}
 */
function readMap(reader, read) {
  const values = new Map();
  for (let left = reader.objects(4); left > 0; --left) {
    const key = reader.text();
    if (values.has(key)) throw new BadMessage(`message has the key '${key.slice(0, 80)}' a second time in a map`);
    values.set(key, read(reader));
  }
  return values;
}

/**
 * Returns a function that decodes messages of the type `structs` from a body and its payloads.
 * @param {Structs} structs
 * @param {Integers} integers
 * @returns {(body: Uint8Array, payloads: readonly import("./tensor.js").Payload[] | null) => any}
 */
export function compileDecoder(structs, integers) {
  const [name] = structs.keys();
  const read = new Compiler(structs, integers).struct(name);
  return (body, payloads) => {
    if (body.length > BODY_BYTES) throw new BadMessage(`message has ${body.length} bytes; at most ${BODY_BYTES}`);
    const reader = new Reader(body, payloads);
    let message;
    try {
      message = read(reader);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new BadMessage(`message of type ${name} ends too early, after ${body.length} bytes`);
    }
    if (reader.at !== body.length) {
      throw new BadMessage(`message of type ${name} has ${body.length - reader.at} bytes after its last field`);
    }
    return message;
  };
}
