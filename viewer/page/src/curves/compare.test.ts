// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { rowsOf } from './compare';

test('Rows in which the runs differ come first, and a missing value is a difference.', () => {
  const rows = rowsOf([{ lr: 0.1, model: 'gpt', seed: 1 }, { lr: 0.1, model: 'mlp' }]);
  expect(rows.map((row) => [row.name, row.differs])).toEqual([['model', true], ['seed', true], ['lr', false]]);
  expect(rows[1]!.values).toEqual([1, undefined]);
});

test('A name that every object has is not a hyperparameter.', () => {
  expect(rowsOf([{ a: 1 }, JSON.parse('{"toString": 2, "__proto__": 3}') as Record<string, number>]).map((row) => row.name).sort()).toEqual(['__proto__', 'a', 'toString']);
});
