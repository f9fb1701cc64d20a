// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { columns, darkness, range, rowAt } from './heat';

test('A column lasts until the next step, and the last one as long as the one before it.', () => {
  expect(columns([100, 200, 400], 1000)).toEqual([
    { row: 0, from: 0, to: 0.2 },
    { row: 1, from: 0.2, to: 0.6 },
    { row: 2, from: 0.6, to: 1 },
  ]);
  expect(columns([7], 1000)).toEqual([{ row: 0, from: 0, to: 1 }]);
  expect(columns([], 1000)).toEqual([]);
});

test('There are no more columns than pixels, and together they fill the width.', () => {
  const list = columns(Array.from({ length: 5000 }, (_, index) => index * 10), 300);
  expect(list.length).toBeLessThanOrEqual(300);
  expect(list[0]!.from).toBe(0);
  expect(list.at(-1)!.to).toBe(1);
  for (let i = 1; i < list.length; i++) expect(list[i]!.from).toBe(list[i - 1]!.to);
});

test('The fullest bucket is darkest, and rare values can be seen.', () => {
  expect(darkness([0, 1, 100])).toEqual([0, 0.1, 1]);
  expect(darkness([0, 0])).toEqual([0, 0]);
});

test('The range is that of the buckets.', () => {
  const series = { of: 'weights', name: 'w', first: -2, width: 0.5, steps: [1], counts: [[1, 2, 3]], smallest: [0], largest: [0], mean: [0], deviation: [0], elements: [6], not_finite: [0] } as const;
  expect(range(series as never)).toEqual({ low: -1, high: 0.5 });
});

test('A place belongs to the column around it.', () => {
  const list = columns([0, 10], 100);
  expect([0, 0.49, 0.5, 0.99, 1].map((x) => rowAt(list, x))).toEqual([0, 0, 1, 1, -1]);
});
