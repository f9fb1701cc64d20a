// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Run, Series } from '../protocol/types';
import { finalNames, finalOf, sorted } from './table';

const run = (id: string, step: number | null): Run => ({ run: id, name: id, file: '', state: 'ended', live: false, source: 'past', started_ns: 0, step, total_steps: null, directory: '', message: '' });
const series = (stage: string, name: string, last: number | null): Series => ({ stage, name, rows: 1, last, last_step: 1 });

test('Unknown values come last in both directions.', () => {
  const runs = [run('a', 5), run('b', null), run('c', 9)];
  const order = (down: boolean): string => sorted(runs, { key: 'step', down }, new Map()).map((one) => one.run).join('');
  expect(order(false)).toBe('acb');
  expect(order(true)).toBe('cab');
});

test('Names are sorted by the numbers in them.', () => {
  expect(sorted([run('sweep-10', 0), run('sweep-9', 0)], { key: 'run', down: false }, new Map()).map((one) => one.run)).toEqual(['sweep-9', 'sweep-10']);
});

test('The final values are those of evaluations first, and only those that some run has.', () => {
  const list = [series('train', 'loss', 0.2), series('validate', 'loss', 0.3), series('train', 'lr', 1)];
  expect(finalNames([list])).toEqual(['validate loss', 'train loss']);
  expect(finalOf(list, 'validate loss')).toBe(0.3);
  expect(finalOf(undefined, 'validate loss')).toBeNull();
});
