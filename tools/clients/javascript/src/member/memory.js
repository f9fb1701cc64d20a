// SPDX-License-Identifier: Apache-2.0
// Memory of other processes of the run (docs/wire_format.md, section 6). Node cannot map it, so it is read and written as
// a file: the bytes of a tensor are copied once, when they are asked for, into memory that is used again and again.
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { BadMessage, TrainyardError } from "../errors.js";
import { Tensor } from "../tensor.js";

const HANDLE_BYTES = 48;
const PAGE = 4096;
const PROCESSES = 256; // The processes that have counters.
const MOST_FILES = 128;
const MOST_SPARE = 8;

/** An open segment of another process. */
class Segment {
  /**
   * @param {number} file
   * @param {number} size
   */
  constructor(file, size) {
    this.file = file;
    this.size = size;
    this.users = 0;
  }
}

/** Buffers for the bytes of tensors. New memory is much slower than memory that has just been used. */
class Spare {
  /** @type {Uint8Array[]} */
  #buffers = [];

  /** @param {number} size @returns {Uint8Array} */
  take(size) {
    const at = this.#buffers.findIndex((buffer) => buffer.length >= size && buffer.length <= 2 * size + PAGE);
    return at < 0 ? new Uint8Array(size) : this.#buffers.splice(at, 1)[0];
  }

  /** @param {Uint8Array} buffer */
  giveBack(buffer) {
    this.#buffers.push(buffer);
    if (this.#buffers.length > MOST_SPARE) this.#buffers.shift();
  }
}

/** A tensor in memory of another process. Its bytes are read when they are asked for. */
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
    // The property of the base class is in the way of the accessor.
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

/** The right to read a payload, until it is returned. */
class Loan {
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
   * Returns memory for a copy. It is used for other messages when the payload has been returned.
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
   * Throws TrainyardError if the payload has been returned.
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

/** The memory of other processes. */
export class Imports {
  /** By inode, the one that was used last at the end. @type {Map<bigint, Segment>} */
  #segments = new Map();
  #counter = Buffer.alloc(4);
  spare = new Spare();

  /** @param {number} index the number of this process in the plan */
  constructor(index) {
    this.index = index;
  }

  /**
   * Returns the payload that a handle stands for. Throws BadMessage.
   * @param {Buffer} frame
   * @returns {Loan}
   */
  open(frame) {
    if (frame.length !== HANDLE_BYTES) throw new BadMessage(`a handle has ${frame.length} bytes; ${HANDLE_BYTES} expected`);
    const [size, offset, count] = [16, 24, 32].map((at) => Number(frame.readBigUInt64LE(at)));
    const counted = frame.readBigUInt64LE(40) !== 0n;
    if (offset > size || count > size - offset || (counted && offset < PAGE)) {
      throw new BadMessage(`shared memory of ${count} bytes at ${offset} is not in its segment of ${size} bytes`);
    }
    const segment = this.#open(frame.readInt32LE(0), frame.readInt32LE(4), frame.readBigUInt64LE(8), size);
    return new Loan(this, segment, offset, count, counted);
  }

  /**
   * @param {number} pid
   * @param {number} descriptor
   * @param {bigint} inode
   * @param {number} size
   * @returns {Segment}
   */
  #open(pid, descriptor, inode, size) {
    const known = this.#segments.get(inode);
    if (known?.size === size) {
      this.#segments.delete(inode); // It moves to the end.
      this.#segments.set(inode, known);
      return known;
    }
    const path = `/proc/${pid}/fd/${descriptor}`;
    let file;
    try {
      file = openSync(path, constants.O_RDWR);
    } catch (error) {
      throw new BadMessage(`cannot open shared memory ${path}: ${/** @type {Error} */ (error).message}`);
    }
    const status = fstatSync(file, { bigint: true });
    if (status.ino !== inode || status.size !== BigInt(size)) {
      closeSync(file);
      throw new BadMessage(`shared memory ${path} is not what its handle says: its owner is gone`);
    }
    const segment = new Segment(file, size);
    this.#segments.set(inode, segment);
    this.#forgetSurplus();
    return segment;
  }

  /** Memory that is not counted may be read at any time, so it stays open. */
  #forgetSurplus() {
    for (const [inode, segment] of this.#segments) {
      if (this.#segments.size <= MOST_FILES) return;
      if (segment.users > 0) continue;
      closeSync(segment.file);
      this.#segments.delete(inode);
    }
  }

  /**
   * Adds 1 to what this process has returned. Nobody else writes this counter, so the addition need not be atomic. If its
   * owner reads it while only some of its bytes are written, it sees less than what was lent, as it did before.
   * @param {Segment} segment
   */
  returnTo(segment) {
    const at = (PROCESSES + this.index) * 4;
    readSync(segment.file, this.#counter, 0, 4, at);
    this.#counter.writeUInt32LE((this.#counter.readUInt32LE(0) + 1) >>> 0);
    writeSync(segment.file, this.#counter, 0, 4, at);
    segment.users -= 1;
  }
}
