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
    let sum = -6;
    for (let i = 0; i < 12; i++) sum += this.next();
    return sum;
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
