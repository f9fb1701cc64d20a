// SPDX-License-Identifier: Apache-2.0
// Encodes messages by their schema. A client sends only a few small control messages, so this is plain, not fast.
import { BODY_BYTES, PAYLOADS } from "./bounds.js";
import { bytesOf, Writer } from "./bytes.js";
import { TrainyardError } from "./errors.js";
import { NUMBERS, typeText } from "./schema.js";
import { writeTensor } from "./tensor.js";

/** @typedef {import("./schema.js").Type} Type */
/** @typedef {import("./schema.js").Structs} Structs */

/** @type {Map<string, (view: DataView, at: number, value: any) => void>} */
const WRITE = new Map([
  ["f32", (view, at, value) => view.setFloat32(at, value, true)],
  ["f64", (view, at, value) => view.setFloat64(at, value, true)],
]);

/**
 * @param {Writer} writer
 * @param {string} kind
 * @param {unknown} value
 */
function writeNumber(writer, kind, value) {
  const size = /** @type {number} */ (NUMBERS.get(kind));
  const at = writer.room(size);
  const float = WRITE.get(kind);
  if (float) {
    if (typeof value !== "number") throw new TypeError("a number is needed");
    return float(writer.view, at, value);
  }
  if (typeof value !== "bigint" && !Number.isSafeInteger(value)) throw new TypeError("an integer is needed");
  const whole = BigInt(/** @type {number | bigint} */ (value));
  const fitting = kind[0] === "i" ? BigInt.asIntN(8 * size, whole) : BigInt.asUintN(8 * size, whole);
  if (fitting !== whole) throw new RangeError("out of range");
  for (let i = 0n; i < size; ++i) writer.view.setUint8(at + Number(i), Number((fitting >> (8n * i)) & 255n));
}

/**
 * The keys are in ascending order of their bytes, as the page demands.
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

/**
 * @param {Structs} structs
 * @param {Writer} writer
 * @param {Type} type
 * @param {any} value
 * @param {string} where
 */
function write(structs, writer, type, value, where) {
  try {
    if (type.kind === "struct") {
      for (const field of structs.get(type.name ?? "") ?? []) {
        if (!Object.hasOwn(value, field.name)) throw new TypeError(`the field '${field.name}' is missing`);
        write(structs, writer, field.type, value[field.name], `${where}.${field.name}`);
      }
    } else if (type.element) {
      writeContainer(structs, writer, type.kind, type.element, value, where);
    } else if (type.kind === "string") {
      if (typeof value !== "string") throw new TypeError("a string is needed");
      writer.text(value);
    } else if (type.kind === "bool") {
      writer.u8(value ? 1 : 0);
    } else if (type.kind === "Tensor") {
      writeTensor(writer, value);
    } else {
      writeNumber(writer, type.kind, value);
    }
  } catch (error) {
    if (error instanceof TrainyardError || !(error instanceof Error)) throw error;
    throw new TrainyardError(`${where || "message"}: ${String(value).slice(0, 80)} does not fit ${typeText(type)}: ` +
      error.message);
  }
}

/**
 * @param {Structs} structs
 * @param {Writer} writer
 * @param {string} kind
 * @param {Type} element
 * @param {any} value
 * @param {string} where
 */
function writeContainer(structs, writer, kind, element, value, where) {
  if (kind === "optional") {
    const present = value !== null && value !== undefined;
    writer.u8(present ? 1 : 0);
    if (present) write(structs, writer, element, value, where);
  } else if (kind === "list") {
    writer.u32(value.length);
    value.forEach((/** @type {unknown} */ one, /** @type {number} */ index) =>
      write(structs, writer, element, one, `${where}[${index}]`));
  } else {
    writer.u32(value.size);
    for (const key of sorted(value.keys())) {
      writer.text(key);
      write(structs, writer, element, value.get(key), `${where}['${key}']`);
    }
  }
}

/**
 * Returns the body and the payloads of a message. Throws TrainyardError if a value does not fit its type.
 * @param {Structs} structs
 * @param {unknown} message
 * @returns {{ body: Uint8Array, payloads: Uint8Array[] }}
 */
export function encode(structs, message) {
  const writer = new Writer();
  const [name] = structs.keys();
  write(structs, writer, { kind: "struct", name }, message, "");
  if (writer.size > BODY_BYTES || writer.payloads.length > PAYLOADS) {
    throw new TrainyardError(`message has ${writer.size} bytes and ${writer.payloads.length} payloads; at most ` +
      `${BODY_BYTES} and ${PAYLOADS}`);
  }
  return { body: writer.done(), payloads: writer.payloads };
}
