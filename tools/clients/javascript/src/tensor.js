// SPDX-License-Identifier: Apache-2.0
// Tensors in messages (docs/wire_format.md, section 6).
import { DIMENSIONS } from "./bounds.js";
import { BadMessage, TrainyardError } from "./errors.js";
import { fromBfloat16, fromFloat16 } from "./half.js";

/** @typedef {import("./bytes.js").Reader} Reader */
/** @typedef {import("./bytes.js").Writer} Writer */
/**
 * The array that contains the elements of a tensor.
 * @typedef {Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array} Elements
 */

const NO_PAYLOAD = 0xffffffff;

/**
 * The types of elements in the order of their numbers: name, bytes, and what makes an array of aligned bytes.
 * @type {[string, number, (buffer: ArrayBuffer) => Elements][]}
 */
const DTYPES = [
  ["uint8", 1, (buffer) => new Uint8Array(buffer)],
  ["int8", 1, (buffer) => new Int8Array(buffer)],
  ["int16", 2, (buffer) => new Int16Array(buffer)],
  ["int32", 4, (buffer) => new Int32Array(buffer)],
  ["int64", 8, (buffer) => new BigInt64Array(buffer)],
  ["float16", 2, (buffer) => fromFloat16(new Uint16Array(buffer))],
  ["bfloat16", 2, (buffer) => fromBfloat16(new Uint16Array(buffer))],
  ["float32", 4, (buffer) => new Float32Array(buffer)],
  ["float64", 8, (buffer) => new Float64Array(buffer)],
  ["bool", 1, (buffer) => new Uint8Array(buffer)],
];

/** The type and the shape of a tensor, and its bytes if they were asked for. */
export class Tensor {
  /**
   * @param {string} dtype such as "float32"
   * @param {number[]} shape
   * @param {Uint8Array | null} data
   */
  constructor(dtype, shape, data = null) {
    this.dtype = dtype;
    this.shape = shape;
    /** The elements, dense, in row-major order and little-endian; null if the message does not contain them. */
    this.data = data;
  }

  /** The number of elements. @returns {number} */
  get size() { return this.shape.reduce((product, extent) => product * extent, 1); }

  /**
   * Returns the elements as a typed array, which is a copy. float16 and bfloat16 are converted to a Float32Array, which
   * represents all their values exactly; bool becomes a Uint8Array. Throws TrainyardError if the message does not
   * contain the elements.
   * @returns {Elements}
   */
  array() {
    const found = DTYPES.find(([name]) => name === this.dtype);
    if (!this.data || !found) {
      throw new TrainyardError(`the tensor has no elements; subscribe with { payloads: "inline" } to receive them`);
    }
    return found[2](Uint8Array.from(this.data).buffer);
  }
}

/**
 * @param {Reader} reader
 * @returns {Tensor}
 */
export function readTensor(reader) {
  const number = reader.u8();
  const rank = reader.u8();
  if (number >= DTYPES.length || rank > DIMENSIONS) {
    throw new BadMessage(`tensor of dtype ${number} with ${rank} dimensions; at most ${DTYPES.length - 1} and ` +
      `${DIMENSIONS}`);
  }
  const [dtype, width] = DTYPES[number];
  const shape = [];
  let bytes = width;
  for (let i = 0; i < rank; ++i, reader.at += 8) {
    const extent = Number(reader.view.getBigInt64(reader.at, true));
    if (extent < 0 || extent > Number.MAX_SAFE_INTEGER) throw new BadMessage(`tensor of the impossible extent ${extent}`);
    shape.push(extent);
    bytes *= extent;
  }
  const payload = reader.u32();
  const offset = Number(reader.view.getBigUint64(reader.at, true));
  reader.at += 8;
  if (payload === NO_PAYLOAD) {
    if (offset !== 0) throw new BadMessage(`tensor without a payload at offset ${offset} of it`);
    return new Tensor(dtype, shape);
  }
  if (!reader.payloads) return new Tensor(dtype, shape);
  if (payload >= reader.payloads.length) {
    throw new BadMessage(`tensor in payload ${payload}; the message has ${reader.payloads.length}`);
  }
  const frame = reader.payloads[payload];
  if (frame.length === 0) return new Tensor(dtype, shape); // This is what `payloads: "none"` asks for.
  // Numbers this large are rounded, but they stay larger than any frame. NaN (0 * Infinity) is no size either.
  if (!(offset + bytes <= frame.length)) {
    throw new BadMessage(`tensor needs ${bytes} bytes at ${offset} of payload ${payload}: it has ${frame.length}`);
  }
  return new Tensor(dtype, shape, frame.subarray(offset, offset + bytes));
}

/**
 * Writes a tensor, and appends its elements to the payloads.
 * @param {Writer} writer
 * @param {unknown} tensor
 */
export function writeTensor(writer, tensor) {
  if (!(tensor instanceof Tensor)) throw new TypeError("a Tensor is needed");
  const number = DTYPES.findIndex(([name]) => name === tensor.dtype);
  if (number < 0 || tensor.shape.length > DIMENSIONS || tensor.shape.some((extent) => !(extent >= 0))) {
    throw new TypeError(`a ${tensor.dtype} tensor of shape ${tensor.shape}`);
  }
  writer.u8(number);
  writer.u8(tensor.shape.length);
  for (const extent of tensor.shape) {
    const at = writer.room(8);
    writer.view.setBigInt64(at, BigInt(extent), true);
  }
  if (tensor.data && tensor.data.length !== tensor.size * DTYPES[number][1]) {
    throw new TypeError(`the tensor needs ${tensor.size * DTYPES[number][1]} bytes`);
  }
  writer.u32(tensor.data ? writer.payloads.length : NO_PAYLOAD);
  writer.room(8); // The offset, 0.
  if (tensor.data) writer.payloads.push(tensor.data);
}
