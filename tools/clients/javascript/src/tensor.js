// SPDX-License-Identifier: Apache-2.0
// Tensors in messages (docs/wire_format.md, section 6).
import { DIMENSIONS } from "./bounds.js";
import { BadMessage, TrainyardError } from "./errors.js";
import { fromBfloat16, fromFloat16 } from "./half.js";

/** @typedef {import("./bytes.js").Reader} Reader */
/** @typedef {import("./bytes.js").Writer} Writer */
/**
 * The types of arrays that can contain the elements of a tensor.
 * @typedef {Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array} Elements
 */

/**
 * The bytes of a payload that are not in the message itself but in the memory of another process.
 * @typedef {object} ElsewhereBytes
 * @property {number} length
 * @property {(dtype: string, shape: number[], offset: number, bytes: number) => Tensor} tensor returns a part of the
 *   bytes as a tensor
 */
/** @typedef {Uint8Array | ElsewhereBytes} Payload */

const WITHOUT = 'the tensor has no elements; subscribe with { payloads: "inline" } to receive them';
const NO_PAYLOAD = 0xffffffff;

/**
 * The types of elements in the order of their numbers in messages: the name, the size in bytes, a function that makes
 * an array over a whole buffer, and a function that makes an array over a part of a buffer.
 * @type {[string, number, (buffer: ArrayBuffer) => Elements, (buffer: ArrayBuffer, at: number, size: number) => Elements][]}
 */
const DTYPES = [
  ["uint8", 1, (buffer) => new Uint8Array(buffer), (...part) => new Uint8Array(...part)],
  ["int8", 1, (buffer) => new Int8Array(buffer), (...part) => new Int8Array(...part)],
  ["int16", 2, (buffer) => new Int16Array(buffer), (...part) => new Int16Array(...part)],
  ["int32", 4, (buffer) => new Int32Array(buffer), (...part) => new Int32Array(...part)],
  ["int64", 8, (buffer) => new BigInt64Array(buffer), (...part) => new BigInt64Array(...part)],
  ["float16", 2, (buffer) => fromFloat16(new Uint16Array(buffer)), (...part) => fromFloat16(new Uint16Array(...part))],
  ["bfloat16", 2, (buffer) => fromBfloat16(new Uint16Array(buffer)), (...part) => fromBfloat16(new Uint16Array(...part))],
  ["float32", 4, (buffer) => new Float32Array(buffer), (...part) => new Float32Array(...part)],
  ["float64", 8, (buffer) => new Float64Array(buffer), (...part) => new Float64Array(...part)],
  ["bool", 1, (buffer) => new Uint8Array(buffer), (...part) => new Uint8Array(...part)],
];

/** A tensor in a message: its type, its shape, and its bytes if the subscription has requested them. */
export class Tensor {
  /**
   * @param {string} dtype such as "float32"
   * @param {number[]} shape
   * @param {Uint8Array | null} data
   */
  constructor(dtype, shape, data = null) {
    this.dtype = dtype;
    this.shape = shape;
    /**
     * The bytes of the elements, in row-major order and little-endian, without gaps; null if the message does not
     * contain them.
     */
    this.data = data;
  }

  /** The number of elements. @returns {number} */
  get size() { return this.shape.reduce((product, extent) => product * extent, 1); }

  /**
   * Returns a tensor with the elements of a typed array, which must not be changed after the tensor has been sent.
   * Throws TrainyardError if tensors cannot have elements of this type.
   * @param {Elements} elements
   * @param {number[]} shape by default the shape of a vector
   * @returns {Tensor}
   */
  static from(elements, shape = [elements.length]) {
    const dtype = /^(?:Big)?([A-Z][a-z]+\d+)(?:Clamped)?Array$/.exec(elements.constructor.name)?.[1].toLowerCase() ?? "";
    const found = DTYPES.find(([name]) => name === dtype);
    const tensor = new Tensor(dtype, shape, new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength));
    if (found && tensor.size === elements.length) return tensor;
    throw new TrainyardError(`a ${elements.constructor.name} of ${elements.length} elements is no tensor of shape ` +
      `[${shape}]; the types of tensors are ${DTYPES.map(([name]) => name).join(", ")}`);
  }

  /** The size of all elements in bytes. @returns {number} */
  get byteLength() { return this.size * (DTYPES.find(([name]) => name === this.dtype)?.[1] ?? 0); }

  /**
   * Returns the bytes of the elements for a message that is being sent. The bytes must stay unchanged until they have
   * been sent.
   * @returns {Uint8Array | null}
   */
  bytesToSend() { return this.data; }

  /**
   * Copies the bytes of the elements. Throws TrainyardError if the message does not contain the elements.
   * @param {Uint8Array} bytes of the size `byteLength`
   */
  readInto(bytes) {
    // A tensor whose shape contains 0 is complete without bytes; C++ sends no payload for it.
    if (!this.data && this.byteLength > 0) throw new TrainyardError(WITHOUT);
    if (this.data) bytes.set(this.data);
  }

  /**
   * Overwrites the elements in shared memory. This is possible only in a member, for tensors in the blocks that hold
   * the parameters and gradients (the arena). For any other tensor, throws TrainyardError.
   * @param {Uint8Array} bytes
   */
  write(bytes) {
    throw new TrainyardError(`only tensors of the arena can be written; these ${bytes.length} bytes were not`);
  }

  /**
   * Returns the elements like array(), but without a copy if possible. The result is valid as long as the message; in a
   * member, this means until the handler of the message has finished.
   * @returns {Elements}
   */
  view() {
    const found = this.#type();
    const { data } = this;
    // Without data, array() finds out whether elements are missing.
    if (!data || data.byteOffset % found[1] !== 0 || found[1] === 2) return this.array();
    const buffer = /** @type {ArrayBuffer} */ (data.buffer);
    return found[3](buffer, data.byteOffset, data.length / found[1]);
  }

  /**
   * Returns the elements as a typed array, which is a copy. float16 and bfloat16 are converted to a Float32Array, which
   * represents all their values exactly; bool becomes a Uint8Array. Throws TrainyardError if the message does not
   * contain the elements.
   * @returns {Elements}
   */
  array() {
    const bytes = new Uint8Array(this.byteLength);
    this.readInto(bytes);
    return this.#type()[2](bytes.buffer);
  }

  #type() {
    const found = DTYPES.find(([name]) => name === this.dtype);
    if (!found) throw new TrainyardError(`no type of tensors '${this.dtype}'`);
    return found;
  }
}

/** A tensor whose bytes are a part of a payload. Several tensors in one message may be parts of the same payload. */
export class PartialTensor extends Tensor {
  /**
   * @param {string} dtype
   * @param {number[]} shape
   * @param {Uint8Array} payload
   * @param {number} offset where the elements begin in the payload
   */
  constructor(dtype, shape, payload, offset) {
    super(dtype, shape);
    this.payload = payload;
    this.offset = offset;
    this.data = payload.subarray(offset, offset + this.byteLength);
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
  // Either the tensor needs no bytes, or the subscription has requested no elements (`payloads: "none"`).
  if (frame.length === 0) return new Tensor(dtype, shape, bytes === 0 ? new Uint8Array(0) : null);
  // Very large numbers are rounded, but stay larger than any frame. The condition is negated so that NaN (0 * Infinity)
  // is refused, too.
  if (!(offset + bytes <= frame.length)) {
    throw new BadMessage(`tensor needs ${bytes} bytes at ${offset} of payload ${payload}: it has ${frame.length}`);
  }
  return frame instanceof Uint8Array ? new Tensor(dtype, shape, frame.subarray(offset, offset + bytes)) :
    frame.tensor(dtype, shape, offset, bytes);
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
  const bytes = tensor.bytesToSend();
  if (bytes && bytes.length !== tensor.size * DTYPES[number][1]) {
    throw new TypeError(`the tensor needs ${tensor.size * DTYPES[number][1]} bytes`);
  }
  const part = tensor instanceof PartialTensor ? tensor : null;
  let payload = part ? writer.payloads.indexOf(part.payload) : -1;
  if (bytes && payload < 0) payload = writer.payloads.push(part?.payload ?? bytes) - 1;
  writer.u32(bytes ? payload : NO_PAYLOAD);
  const at = writer.room(8);
  writer.view.setBigUint64(at, BigInt(part?.offset ?? 0), true);
}
