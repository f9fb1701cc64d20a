// SPDX-License-Identifier: Apache-2.0
// Tensors in the shared memory of other processes, and the right of this process to read that memory until it returns
// it.
import { readSync, writeSync } from "node:fs";
import { BadMessage, TrainyardError } from "../errors.js";
import { Tensor } from "../tensor.js";

/** @typedef {import("./memory.js").Imports} Imports */
/** @typedef {import("./memory.js").Segment} Segment */

/** A tensor in the memory of another process. Its bytes are read only when the program uses them. */
class SharedTensor extends Tensor {
  #loan;
  #offset;
  #bytes;
  /** @type {Uint8Array | null} */
  #copy = null;

  /**
   * @param {string} dtype
   * @param {number[]} shape
   * @param {Loan} loan
   * @param {number} offset from the beginning of the segment
   * @param {number} bytes
   */
  constructor(dtype, shape, loan, offset, bytes) {
    super(dtype, shape);
    this.#loan = loan;
    this.#offset = offset;
    this.#bytes = bytes;
    // The accessor must be defined on the object, because the base class has set a property with this name.
    Object.defineProperty(this, "data", { enumerable: true, configurable: true, get: () => this.#read() });
  }

  #read() {
    if (this.#loan.counted && this.#copy) return this.#loan.valid(this.#copy);
    const buffer = this.#copy ?? this.#loan.buffer(this.#bytes);
    this.readInto(buffer);
    this.#copy = buffer;
    return buffer;
  }

  /** @override */
  bytesToSend() { return Uint8Array.from(this.#read()); }

  /**
   * @override
   * @param {Uint8Array} bytes
   */
  readInto(bytes) { this.#loan.read(bytes, this.#offset); }

  /**
   * @override
   * @param {Uint8Array} bytes
   */
  write(bytes) { this.#loan.write(bytes, this.#offset, this.#bytes); }
}

/** The right to read a payload (the bytes of a tensor in another process's memory) until giveBack() is called. */
export class Loan {
  #imports;
  #segment;
  #returned = false;
  /** @type {Uint8Array[]} */
  #buffers = [];

  /**
   * @param {Imports} imports
   * @param {Segment} segment
   * @param {number} offset
   * @param {number} length
   * @param {boolean} counted
   */
  constructor(imports, segment, offset, length, counted) {
    this.#imports = imports;
    this.#segment = segment;
    this.offset = offset;
    this.length = length;
    this.counted = counted;
    segment.users += 1;
  }

  /**
   * @param {string} dtype
   * @param {number[]} shape
   * @param {number} offset
   * @param {number} bytes
   * @returns {Tensor}
   */
  tensor(dtype, shape, offset, bytes) { return new SharedTensor(dtype, shape, this, this.offset + offset, bytes); }

  /**
   * Returns memory for a copy of the payload. The memory is reused for other messages after the payload has been
   * returned.
   * @param {number} size
   * @returns {Uint8Array}
   */
  buffer(size) {
    if (!this.counted) return new Uint8Array(size);
    const whole = this.#imports.spare.take(size);
    this.#buffers.push(whole);
    return whole.length === size ? whole : whole.subarray(0, size);
  }

  /**
   * Returns `bytes`. Throws TrainyardError if the payload has already been returned.
   * @param {Uint8Array} bytes
   * @returns {Uint8Array}
   */
  valid(bytes) {
    if (!this.#returned) return bytes;
    throw new TrainyardError("a tensor can be read only while the handler of its message runs; array() returns a copy");
  }

  /**
   * @param {Uint8Array} bytes
   * @param {number} at
   */
  read(bytes, at) {
    this.valid(bytes);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.#segment.file, bytes, done, bytes.length - done, at + done);
      if (count === 0) throw new BadMessage("shared memory ends before the tensor that is in it");
      done += count;
    }
  }

  /**
   * @param {Uint8Array} bytes
   * @param {number} at
   * @param {number} most
   */
  write(bytes, at, most) {
    if (this.counted) throw new TrainyardError("only the arena can be written; what was received in a message cannot");
    if (bytes.length > most) throw new TrainyardError(`the tensor has ${most} bytes; ${bytes.length} do not fit`);
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#segment.file, bytes, done, bytes.length - done, at + done);
    }
  }

  /** Returns the payload to its owner, who may then use the memory again. */
  giveBack() {
    if (this.#returned || !this.counted) return;
    this.#returned = true;
    for (const buffer of this.#buffers) this.#imports.spare.giveBack(buffer);
    this.#imports.returnTo(this.#segment);
  }
}
