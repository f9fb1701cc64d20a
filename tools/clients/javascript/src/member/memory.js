// SPDX-License-Identifier: Apache-2.0
// Accesses the shared memory of other processes of the run (docs/wire_format.md, section 6). Node.js cannot map memory,
// so the memory is read and written as a file. The bytes of a tensor are copied once, when the program uses them, into
// buffers that are reused.
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { BadMessage } from "../errors.js";
import { Loan } from "./loan.js";

const HANDLE_BYTES = 48;
const PAGE = 4096;
const PROCESSES = 256; // The number of processes for which a segment has counters.
const MOST_FILES = 128;
const MOST_SPARE = 8;

/** A piece of shared memory of another process that has been opened. */
export class Segment {
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

/**
 * A store of reusable buffers for the bytes of tensors. Using new memory is much slower than using memory that was used
 * recently.
 */
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

/** The memory of other processes that this process has opened. */
export class Imports {
  /** The segments by inode. The segment that was used last is at the end. @type {Map<bigint, Segment>} */
  #segments = new Map();
  #counter = Buffer.alloc(4);
  spare = new Spare();

  /** @param {number} index the number of this process in the plan */
  constructor(index) {
    this.index = index;
  }

  /**
   * Returns the payload that a frame with a handle describes. Throws BadMessage if the handle is not valid.
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
      this.#segments.delete(inode); // The segment moves to the end of the map.
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
    this.#makeRoom(); // This comes first, because the new segment has no users yet.
    const segment = new Segment(file, size);
    this.#segments.set(inode, segment);
    return segment;
  }

  /**
   * Closes the segments that were not used for the longest time, if there is no room for another. Memory without counters
   * stays open, because it may be read at any time.
   */
  #makeRoom() {
    for (const [inode, segment] of this.#segments) {
      if (this.#segments.size < MOST_FILES) return;
      if (segment.users > 0) continue;
      closeSync(segment.file);
      this.#segments.delete(inode);
    }
  }

  /**
   * Increments the counter of what this process has returned. No other process writes this counter, so the addition
   * need not be atomic. If the owner reads the counter while only some of its bytes have been written, it sees a number
   * that is less than what was lent, so it does not reuse the memory too early.
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
