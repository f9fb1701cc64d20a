// SPDX-License-Identifier: Apache-2.0
// The counterpart of tools/clients/python/random_messages.py. Tests compare the results of the two codecs with these
// programs.
import { Schema, Tensor } from "trainyard/codec";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
export const unhex = (text) => Uint8Array.from(Buffer.from(text, "hex"));

function hexOfDouble(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return hex(bytes);
}

/** Returns a message as text, which does not depend on the programming language. */
export function canonical(structs, type, value) {
  switch (type.kind) {
    case "struct":
      return structs.get(type.name).map((field) => [field.name, canonical(structs, field.type, value[field.name])]);
    case "list": return value.map((one) => canonical(structs, type.element, one));
    case "map": return [...value].map(([key, one]) => [key, canonical(structs, type.element, one)]);
    case "optional": return value === null ? [] : [canonical(structs, type.element, value)];
    case "f32": case "f64": return Number.isNaN(value) ? "nan" : hexOfDouble(value);
    case "Tensor": return [value.dtype, value.shape.map(String), value.data && hex(value.data)];
    default: return String(value);
  }
}

/** Returns a line in the format that random_messages.py prints. */
export function line(schema, message, text) {
  const { body, payloads } = schema.encode(message);
  return {
    schema: text, fingerprint: schema.fingerprint.toString(16).padStart(16, "0"), body: hex(body),
    payloads: payloads.map(hex), message: canonical(schema.structs, { kind: "struct", name: schema.name }, message),
  };
}

const pick = (list) => list[Math.floor(Math.random() * list.length)];
const SHAPES = [[], [2], [0, 3], [2, 1, 2]];

/** Returns a random value of a type. */
export function randomValue(structs, type) {
  switch (type.kind) {
    case "struct": {
      // In an object without a prototype, "__proto__" is an ordinary name.
      const value = Object.create(null);
      for (const field of structs.get(type.name)) value[field.name] = randomValue(structs, field.type);
      return value;
    }
    case "list": return Array.from({ length: pick([0, 1, 3]) }, () => randomValue(structs, type.element));
    case "map": return new Map(["a", "ä€", "😀", "\uffff", ""].slice(pick([0, 3, 5])).map((key) =>
      [key, randomValue(structs, type.element)]));
    case "optional": return pick([null, randomValue(structs, type.element)]);
    case "string": return pick(["", "loss", "a longer text that is not short", "ä€😀", "\ufeffmark", "\0"]);
    case "bool": return pick([true, false]);
    case "f32": return Math.fround(pick([0, -0, 1.5, Infinity, NaN, Math.random()]));
    case "f64": return pick([0, -0, Math.random(), -Infinity, NaN, Number.MAX_VALUE]);
    case "Tensor": return randomTensor();
    default: return randomInteger(type.kind);
  }
}

function randomInteger(kind) {
  const bits = BigInt(kind.slice(1));
  const [low, high] = kind[0] === "i" ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n];
  const value = pick([low, high, 0n, low + BigInt(Math.floor(Math.random() * 2 ** 53)) % (high - low + 1n)]);
  return bits === 64n ? value : Number(value);
}

function randomTensor() {
  const [dtype, width] = pick([["uint8", 1], ["int16", 2], ["int64", 8], ["bfloat16", 2], ["float32", 4]]);
  const shape = pick(SHAPES);
  const size = shape.reduce((product, extent) => product * extent, width);
  const data = Uint8Array.from({ length: size }, () => Math.floor(Math.random() * 256));
  return new Tensor(dtype, shape, size && pick([true, false]) ? data : null);
}

export { Schema, Tensor };
