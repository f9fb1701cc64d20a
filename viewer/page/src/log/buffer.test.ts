// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { LogRecord } from '../protocol/types';
import { LogBuffer } from './buffer';
import { passes } from './filter';

const record = (number: number, more: Partial<LogRecord> = {}): LogRecord => ({ number, time_ns: 0, level: 'info', component: 'optimizer', text: 'step done', ...more });
const numbers = (buffer: LogBuffer): number[] => buffer.records.map((one) => one.number);

test('Pages and pushes that overlap give each record once, in order.', () => {
  const buffer = new LogBuffer();
  buffer.append([record(12), record(11), record(11)]);
  buffer.append([record(12), record(13)]);
  expect(buffer.prepend([record(9), record(10), record(11)])).toBe(2);
  expect(numbers(buffer)).toEqual([9, 10, 11, 12, 13]);
});

test('New records push the oldest out when there are too many, and the answer says how many.', () => {
  const buffer = new LogBuffer(3);
  expect(buffer.append([record(1), record(2)])).toBe(0);
  expect(buffer.append([record(3), record(4), record(5)])).toBe(2);
  expect(numbers(buffer)).toEqual([3, 4, 5]);
});

test('A filter takes parts of names and texts, and all levels from one on.', () => {
  const filter = { level: 'info', component: '', text: '' };
  expect(passes(record(1), filter)).toBe(true);
  expect(passes(record(1, { level: 'debug' }), filter)).toBe(false);
  expect(passes(record(1, { level: 'critical' }), filter)).toBe(true);
  expect(passes(record(1), { ...filter, component: 'OPT', text: 'Done' })).toBe(true);
  expect(passes(record(1), { ...filter, text: 'failed' })).toBe(false);
});
