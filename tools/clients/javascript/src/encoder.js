// SPDX-License-Identifier: Apache-2.0
// Compiles a schema into a function that encodes messages. Like the decoder, the function consists of closures, one for
// each type.
import { BODY_BYTES, PAYLOADS } from "./bounds.js";
import { bytesOf, Writer } from "./bytes.js";
import { TrainyardError } from "./errors.js";
import { NUMBERS, typeText } from "./schema.js";
import { writeTensor } from "./tensor.js";

/** @typedef {import("./schema.js").Type} Type */
/** @typedef {import("./schema.js").Structs} Structs */
/** @typedef {(writer: Writer, value: any) => void} Write */

/**
 * The error for a value that does not fit its type. While the error passes through nested types, each adds its part to
 * the path of the value.
 */
class Misfit extends Error {
  /**
   * @param {unknown} value
   * @param {Type} type
   * @param {string} reason
   */
  constructor(value, type, reason) {
    super(`${String(value).slice(0, 80)} does not fit ${typeText(type)}: ${reason}`);
    this.place = "";
  }
}

/**
 * Returns the error to rethrow when a value could not be written, with the path extended by `step`.
 * @param {unknown} error
 * @param {unknown} value
 * @param {Type} type
 * @param {string} step the last part of the path to the value
 * @returns {unknown}
 */
function misfit(error, value, type, step) {
  if (error instanceof TrainyardError || !(error instanceof Error)) return error;
  const found = error instanceof Misfit ? error : new Misfit(value, type, error.message);
  found.place = step + found.place;
  return found;
}

/** @type {Map<string, (view: DataView, at: number, value: number) => void>} */
const SMALL = new Map([
  ["i8", (view, at, value) => view.setInt8(at, value)],
  ["i16", (view, at, value) => view.setInt16(at, value, true)],
  ["i32", (view, at, value) => view.setInt32(at, value, true)],
  ["u8", (view, at, value) => view.setUint8(at, value)],
  ["u16", (view, at, value) => view.setUint16(at, value, true)],
  ["u32", (view, at, value) => view.setUint32(at, value, true)],
  ["f32", (view, at, value) => view.setFloat32(at, value, true)],
  ["f64", (view, at, value) => view.setFloat64(at, value, true)],
]);

/**
 * @param {string} kind
 * @returns {Write}
 */
function writeFloat(kind) {
  const set = /** @type {(view: DataView, at: number, value: number) => void} */ (SMALL.get(kind));
  const size = /** @type {number} */ (NUMBERS.get(kind));
  return (writer, value) => {
    if (typeof value !== "number") throw new TypeError("a number is needed");
    const at = writer.room(size); // This comes first, because it may replace the view.
    set(writer.view, at, value);
  };
}

/**
 * @param {string} kind of at most 32 bits
 * @returns {Write}
 */
function writeInteger(kind) {
  const set = /** @type {(view: DataView, at: number, value: number) => void} */ (SMALL.get(kind));
  const size = /** @type {number} */ (NUMBERS.get(kind));
  const most = 2 ** (8 * size - (kind[0] === "i" ? 1 : 0)) - 1;
  const least = kind[0] === "i" ? -most - 1 : 0;
  return (writer, value) => {
    const whole = typeof value === "bigint" ? Number(value) : value;
    if (!Number.isInteger(whole)) throw new TypeError("an integer is needed");
    if (whole < least || whole > most) throw new RangeError("out of range");
    const at = writer.room(size);
    set(writer.view, at, whole);
  };
}

/**
 * @param {string} kind of 64 bits
 * @returns {Write}
 */
function writeLong(kind) {
  const fit = kind[0] === "i" ? BigInt.asIntN : BigInt.asUintN;
  return (writer, value) => {
    if (typeof value === "number") {
      if (!Number.isSafeInteger(value)) throw new TypeError("an integer is needed");
      if (value >= 0) { // This covers most integers, and is much faster than a bigint.
        const at = writer.room(8);
        writer.view.setUint32(at, value % 2 ** 32, true);
        writer.view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
        return;
      }
    } else if (typeof value !== "bigint") {
      throw new TypeError("an integer is needed");
    }
    const whole = BigInt(value);
    if (fit(64, whole) !== whole) throw new RangeError("out of range");
    const at = writer.room(8);
    writer.view.setBigUint64(at, BigInt.asUintN(64, whole), true);
  };
}

/**
 * Returns the keys in ascending order of their bytes, as docs/wire_format.md requires.
 * @param {Iterable<string>} keys
 * @returns {string[]}
 */
function sorted(keys) {
  const order = [...keys].map((key) => ({ key, bytes: bytesOf(key) }));
  order.sort((left, right) => {
    for (let i = 0; i < Math.min(left.bytes.length, right.bytes.length); ++i) {
      if (left.bytes[i] !== right.bytes[i]) return left.bytes[i] - right.bytes[i];
    }
    return left.bytes.length - right.bytes.length;
  });
  return order.map(({ key }) => key);
}

/** @type {Write} */
function writeText(writer, value) {
  if (typeof value !== "string") throw new TypeError("a string is needed");
  writer.text(value);
}

/** Makes the closures for one schema. A struct has only one closure, even if several fields refer to it. */
class Compiler {
  /** @param {Structs} structs */
  constructor(structs) {
    this.structs = structs;
    /** @type {Map<string, Write>} */
    this.compiled = new Map();
  }

  /**
   * @param {Type} type
   * @returns {Write}
   */
  write(type) {
    if (type.kind === "struct") return this.struct(/** @type {string} */ (type.name));
    if (type.element) return this.container(type.kind, type.element);
    if (type.kind === "string") return writeText;
    if (type.kind === "bool") return (writer, value) => writer.u8(value ? 1 : 0);
    if (type.kind === "Tensor") return writeTensor;
    if (type.kind[0] === "f") return writeFloat(type.kind);
    return NUMBERS.get(type.kind) === 8 ? writeLong(type.kind) : writeInteger(type.kind);
  }

  /**
   * @param {string} name
   * @returns {Write}
   */
  struct(name) {
    const known = this.compiled.get(name);
    if (known) return known;
    const fields = (this.structs.get(name) ?? []).map((field) => ({ ...field, write: this.write(field.type) }));
    /** @type {Write} */
    const write = (writer, value) => {
      for (const field of fields) {
        if (!Object.hasOwn(value, field.name)) throw new TypeError(`the field '${field.name}' is missing`);
        try {
          field.write(writer, value[field.name]);
        } catch (error) {
          throw misfit(error, value[field.name], field.type, `.${field.name}`);
        }
      }
    };
    this.compiled.set(name, write);
    return write;
  }

  /**
   * @param {string} kind
   * @param {Type} element
   * @returns {Write}
   */
  container(kind, element) {
    const write = this.write(element);
    if (kind === "optional") {
      return (writer, value) => {
        const present = value !== null && value !== undefined;
        writer.u8(present ? 1 : 0);
        if (present) write(writer, value);
      };
    }
    /** @type {(writer: Writer, value: unknown, step: string) => void} */
    const writeOne = (writer, value, step) => {
      try {
        write(writer, value);
      } catch (error) {
        throw misfit(error, value, element, step);
      }
    };
    if (kind === "list") {
      return (writer, value) => {
        writer.u32(value.length);
        for (let i = 0; i < value.length; ++i) writeOne(writer, value[i], `[${i}]`);
      };
    }
    return (writer, value) => {
      if (!(value instanceof Map)) throw new TypeError("a Map is needed");
      writer.u32(value.size);
      for (const key of sorted(value.keys())) {
        writer.text(key);
        writeOne(writer, value.get(key), `['${key}']`);
      }
    };
  }
}

/**
 * Returns a function that encodes messages of the type `structs`. The function returns the body and the payloads, and
 * throws TrainyardError if a value does not fit its type.
 * @param {Structs} structs
 * @returns {(message: unknown) => { body: Uint8Array, payloads: Uint8Array[] }}
 */
export function compileEncoder(structs) {
  const [name] = structs.keys();
  const write = new Compiler(structs).struct(name);
  return (message) => {
    const writer = new Writer();
    try {
      write(writer, message);
    } catch (error) {
      const found = misfit(error, message, { kind: "struct", name }, "");
      throw found instanceof Misfit ? new TrainyardError(`${found.place || "message"}: ${found.message}`) : found;
    }
    if (writer.size > BODY_BYTES || writer.payloads.length > PAYLOADS) {
      throw new TrainyardError(`message has ${writer.size} bytes and ${writer.payloads.length} payloads; at most ` +
        `${BODY_BYTES} and ${PAYLOADS}`);
    }
    return { body: writer.done(), payloads: writer.payloads };
  };
}
