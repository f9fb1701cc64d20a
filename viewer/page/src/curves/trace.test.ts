// SPDX-License-Identifier: Apache-2.0
import { expect, test, vi } from 'vitest';
import type { Curve, CurveQuestion } from '../protocol/types';
import { clamped } from './axis';
import { logTicks, tickLabels } from './chart';
import { Loader } from './loader';
import { heightOf, nearestTo, spanOf, traceOf } from './trace';

vi.mock('uplot', () => ({ default: class {} }));

const curve = (x: number[], y: (number | null)[]): Curve => ({ x, low: y, high: y, mean: y, smooth: y, rows: x.length, from: x[0] ?? null, to: x.at(-1) ?? null });

test('What is not a number becomes NaN, and does not count for the height.', () => {
  const trace = traceOf(curve([0, 1, 2], [5, null, 7]), null);
  expect([...trace.mean]).toEqual([5, Number.NaN, 7]);
  expect(heightOf(trace, { from: 0, to: 2 }, false)).toEqual([5, 7]);
  expect(heightOf(traceOf(curve([0], [null]), null), { from: 0, to: 1 }, false)).toBeNull();
});

test('A logarithmic scale sees positive values only.', () => {
  const trace = traceOf(curve([0, 1, 2], [-1, 0.1, 10]), null);
  expect(heightOf(trace, { from: 0, to: 2 }, true)).toEqual([0.1, 10]);
});

test('A range needs one point beyond each end.', () => {
  const x = { x: Float64Array.from([0, 10, 20, 30, 40]), rising: true };
  expect(spanOf(x, { from: 12, to: 28 })).toEqual([1, 4]);
  expect(spanOf(x, { from: -5, to: 100 })).toEqual([0, 5]);
});

test('The nearest point is found at both ends and between.', () => {
  const x = { x: Float64Array.from([0, 10, 20]), rising: true };
  expect([-5, 4, 6, 25].map((value) => nearestTo(x, value))).toEqual([0, 0, 1, 2]);
  expect(nearestTo({ x: new Float64Array(), rising: true }, 1)).toBe(-1);
});

test('A run that was started again is drawn in the order of its rows.', () => {
  const trace = traceOf(curve([0, 10, 20, 10, 20, 30], [1, 2, 3, 4, 5, 6]), null);
  expect(trace.extent).toEqual({ from: 0, to: 30 });
  expect(spanOf(trace, { from: 19, to: 21 })).toEqual([0, 6]);
  // Of two points at the same distance, the newer one is returned.
  expect(nearestTo(trace, 11)).toBe(3);
});

test('A zoom stays near the data, and ends when it covers all of them.', () => {
  const extent = { from: 0, to: 100 };
  expect(clamped({ from: 10, to: 20 }, extent)).toEqual({ from: 10, to: 20 });
  expect(clamped({ from: -10, to: 110 }, extent)).toBeNull();
  expect(clamped({ from: 500, to: 520 }, extent)).toEqual({ from: 90, to: 110 });
  expect(clamped({ from: 5, to: 5 }, extent)!.to).toBeGreaterThan(5);
});

test('Ticks have the digits that tell them apart.', () => {
  expect(tickLabels([0, 250_000, 500_000])).toEqual(['0', '250k', '500k']);
  expect(tickLabels([0, 0.25e6, 1.5e6])).toEqual(['0', '0.25M', '1.5M']);
  expect(tickLabels([1.02, 1.04])).toEqual(['1.02', '1.04']);
  expect(tickLabels([1e-5, 2e-5])).toEqual(['1e-5', '2e-5']);
});

test('A logarithmic axis has some ticks, however small or large its range is.', () => {
  for (const [least, most] of [[8.0e9, 8.2e9], [0.1, 5], [1e-9, 1], [1, 1e30], [0.99, 1.01]] as const) {
    const ticks = logTicks(least, most);
    expect(ticks.length, `${least} ... ${most}`).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(14);
    for (const tick of ticks) expect(tick >= least && tick <= most).toBe(true);
  }
});

test('A loader asks a few questions at a time, and only the newest with each key.', async () => {
  const asked: { from: number | null; answer: (curve: Curve) => void }[] = [];
  const loader = new Loader((question) => new Promise((answer) => asked.push({ from: question.from, answer })), 2);
  const question = (from: number): CurveQuestion => ({ run: 'a', stage: 's', name: 'n', x: 'step', from, to: null, points: 10, smooth: 0 });
  const done: number[] = [];
  for (const [key, from] of [['a', 1], ['b', 2], ['c', 3], ['c', 4], ['a', 5], ['d', 6]] as const) loader.load(key, question(from), () => done.push(from), () => {});
  loader.drop('d');
  expect(asked.map((one) => one.from)).toEqual([1, 2]);
  for (let i = 0; i < 4; i++) {
    asked[i]?.answer(curve([], []));
    await new Promise((resolve) => setTimeout(resolve));
  }
  expect(asked.map((one) => one.from).sort()).toEqual([1, 2, 4, 5]);
  expect(done.sort()).toEqual([1, 2, 4, 5]);
});
