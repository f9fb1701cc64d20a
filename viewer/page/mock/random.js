// SPDX-License-Identifier: Apache-2.0

/** Random numbers that are the same in every run of the mock: a linear congruential generator. */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = Math.imul(seed ^ (seed >>> 13), 2654435761) >>> 0;
    this.state = Math.imul(this.state ^ (this.state >>> 15), 2246822519) >>> 0;
  }
  /** From 0 to less than 1. */
  next() {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return this.state / 4294967296;
  }
  /** About normally distributed, with mean 0 and deviation 1. */
  normal() {
    return (this.next() + this.next() + this.next() - 1.5) * 2;
  }
  /**
   * @template T
   * @param {readonly T[]} list
   * @returns {T}
   */
  pick(list) {
    return /** @type {T} */ (list[Math.floor(this.next() * list.length)]);
  }
}
