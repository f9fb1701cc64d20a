// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { accuracy, mistakes, totals } from './mistakes';

const matrix = { split: 'validate', splits: ['validate'], step: 1, steps: [1], classes: ['cat', 'dog', 'owl'], counts: [5, 3, 0, 1, 8, 1, 0, 0, 0] };

test('Rows are the right classes.', () => {
  expect(totals(matrix)).toEqual([8, 10, 0]);
  expect(accuracy(matrix)).toBeCloseTo(13 / 18);
  expect(accuracy({ ...matrix, counts: [0, 0, 0, 0, 0, 0, 0, 0, 0] })).toBeNull();
});

test('The most frequent mistakes come first.', () => {
  expect(mistakes(matrix, 2)).toEqual([
    { right: 'cat', predicted: 'dog', count: 3, total: 8, share: 3 / 8 },
    { right: 'dog', predicted: 'cat', count: 1, total: 10, share: 0.1 },
  ]);
});
