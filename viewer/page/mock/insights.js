// SPDX-License-Identifier: Apache-2.0
import { Random } from './random.js';

/**
 * @typedef {import('../src/protocol/types').HistogramInfo} HistogramInfo
 * @typedef {import('../src/protocol/types').HistogramSeries} HistogramSeries
 * @typedef {import('../src/protocol/types').ConfusionMatrix} ConfusionMatrix
 */

const tensors = ['convolutions.0.weight', 'convolutions.0.bias', 'convolutions.1.weight', 'convolutions.1.bias', 'hidden.weight', 'hidden.bias', 'output.weight', 'output.bias'];
const layers = ['convolutions.0', 'convolutions.1', 'hidden', 'output'];

/** @param {string[]} [more] further names @returns {HistogramInfo[]} */
export function histogramList(more = []) {
  /** @param {HistogramInfo['of']} of @param {string[]} names */
  const list = (of, names) => names.map((name) => ({ of, name, steps: 56, last_step: 1120, elements: 18496 }));
  return [...list('activations', layers), ...list('gradients', [...tensors, ...more]), ...list('weights', [...tensors, ...more])];
}

/** A bell that widens and moves. @param {HistogramInfo} info @returns {HistogramSeries} */
export function histogramSeries(info) {
  const random = new Random(info.name.length * 7 + info.of.length);
  const drift = random.normal() * 8;
  const steps = Array.from({ length: info.steps }, (_, index) => (index + 1) * Math.round(info.last_step / info.steps));
  const width = 1 / 64;
  const centre = (/** @type {number} */ row) => 32 + (drift * row) / steps.length;
  const spread = (/** @type {number} */ row) => 3 + (8 * row) / steps.length;
  const value = (/** @type {number} */ bucket) => (bucket - 32) * width;
  return {
    of: info.of, name: info.name, first: -32, width, steps,
    counts: steps.map((_, row) => Array.from({ length: 64 }, (_, bucket) => Math.round((info.elements / 20) * Math.exp(-(((bucket - centre(row)) / spread(row)) ** 2))))),
    smallest: steps.map((_, row) => value(centre(row) - 3 * spread(row))),
    largest: steps.map((_, row) => value(centre(row) + 3 * spread(row))),
    mean: steps.map((_, row) => value(centre(row))),
    deviation: steps.map((_, row) => spread(row) * width * 0.7),
    elements: steps.map(() => info.elements),
    not_finite: steps.map((_, row) => (row === 3 ? 2 : 0)),
  };
}

/** @param {string[]} classes @param {number | null} step @returns {ConfusionMatrix} */
export function confusionOf(classes, step) {
  const steps = Array.from({ length: 8 }, (_, index) => (index + 1) * 140);
  const chosen = step ?? steps.at(-1) ?? 0;
  const random = new Random(chosen);
  const counts = classes.flatMap((_, right) => classes.map((_, predicted) => (right === predicted ? 95 : random.next() < 0.3 ? Math.floor(random.next() * (3000 / chosen)) : 0)));
  return { split: 'validate', splits: ['validate', 'test'], step: chosen, steps, classes, counts };
}
