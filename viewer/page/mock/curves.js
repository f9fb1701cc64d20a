// SPDX-License-Identifier: Apache-2.0
import { Random } from './random.js';

/**
 * @typedef {(step: number, random: Random) => number} Shape
 * @typedef {{ stage: string, name: string, every: number, shape: Shape }} SeriesInfo
 */

/** @param {number} start @param {number} floor @param {number} pace @returns {Shape} */
export const falling = (start, floor, pace, noise = 0.06) => (step, random) =>
  floor + (start - floor) / (1 + step / pace) ** 0.55 + Math.abs(floor) * noise * random.normal() * (random.next() < 0.002 ? 5 : 1);

/** @param {number} top @param {number} pace @returns {Shape} */
export const rising = (top, pace) => (step, random) => top * (1 - 0.9 / (1 + step / pace) ** 0.7) + 0.004 * random.normal();

/** A learning rate with a warm-up. @param {number} peak @param {number} total @returns {Shape} */
export const cosine = (peak, total) => (step) =>
  step < total / 50 ? (peak * step) / (total / 50) : peak * 0.5 * (1 + Math.cos((Math.PI * Math.min(step, total)) / total));

/** A series of values that grows with the steps of a run. It makes its values when they are first asked for. */
export class MockSeries {
  /** @param {SeriesInfo} info @param {number} seed */
  constructor(info, seed) {
    this.info = info;
    this.random = new Random(seed);
    this.values = new Float32Array(1024);
    this.rows = 0;
  }
  /** @param {number} step the run's step */
  grow(step) {
    const rows = Math.floor(step / this.info.every);
    if (rows > this.values.length) {
      const larger = new Float32Array(Math.ceil(rows * 1.3));
      larger.set(this.values);
      this.values = larger;
    }
    while (this.rows < rows) this.values[this.rows] = this.info.shape(++this.rows * this.info.every, this.random);
    this.rows = rows;
  }
  summary() {
    const last = this.rows ? /** @type {number} */ (this.values[this.rows - 1]) : null;
    return { stage: this.info.stage, name: this.info.name, rows: this.rows, last: finite(last), last_step: this.rows ? this.rows * this.info.every : null };
  }
  /**
   * @param {{ from: number | null, to: number | null, points: number, smooth: number }} question
   * @param {number} unit what one step is on the x axis
   */
  curve({ from, to, points, smooth }, unit) {
    const each = this.info.every * unit;
    const begin = from === null ? 0 : Math.max(0, Math.min(this.rows, Math.floor(from / each) - 2));
    const end = to === null ? this.rows : Math.max(begin, Math.min(this.rows, Math.ceil(to / each) + 1));
    const size = Math.max(1, Math.ceil((end - begin) / Math.max(1, points)));
    /** @type {{ x: number[], low: (number|null)[], high: (number|null)[], mean: (number|null)[], smooth: (number|null)[] }} */
    const answer = { x: [], low: [], high: [], mean: [], smooth: [] };
    const keep = smooth ** size;
    let past = Number.NaN;
    for (let at = begin; at < end; at += size) {
      let low = Infinity;
      let high = -Infinity;
      let sum = 0;
      const stop = Math.min(end, at + size);
      for (let i = at; i < stop; i++) {
        const value = /** @type {number} */ (this.values[i]);
        if (value < low) low = value;
        if (value > high) high = value;
        sum += value;
      }
      const mean = sum / (stop - at);
      if (!Number.isNaN(mean)) past = Number.isNaN(past) ? mean : keep * past + (1 - keep) * mean;
      answer.x.push((at + 1 + (stop - 1 - at) / 2) * each);
      answer.low.push(Number.isNaN(mean) ? null : low);
      answer.high.push(Number.isNaN(mean) ? null : high);
      answer.mean.push(finite(mean));
      answer.smooth.push(Number.isNaN(mean) ? null : finite(past));
    }
    return { ...answer, rows: this.rows, from: this.rows ? each : null, to: this.rows ? this.rows * each : null };
  }
}

/** @param {number | null} value */
const finite = (value) => (value !== null && Number.isFinite(value) ? value : null);
