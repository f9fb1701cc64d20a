// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { bytes, count, duration, measure, percent, short, value } from './format';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');

test('Unknown numbers are a dash.', () => {
  for (const format of [bytes, count, duration, measure, percent, short]) expect(format(null)).toBe('–');
});

test('Large numbers are shortened to three digits.', () => {
  expect(plain(short(1234567))).toBe('1.23 M');
  expect(plain(short(999))).toBe('999');
  expect(plain(short(-45600))).toBe('−45.6 k');
  // Rounding must not produce four digits before the unit.
  expect(plain(short(999999))).toBe('1.00 M');
  expect(plain(bytes(1536))).toBe('1.50 KiB');
});

test('Measured values keep five significant digits.', () => {
  expect(measure(0.123456789)).toBe('0.12346');
  expect(measure(1.5e-7)).toBe('1.5e-7');
  expect(measure(8.1e9)).toBe('8.1e9');
  expect(measure(1234567)).toBe('1,234,567');
  expect(measure(0)).toBe('0');
  expect(measure(Number.NaN)).toBe('NaN');
});

test('Durations have two units.', () => {
  expect(duration(59)).toBe('59 s');
  expect(duration(125)).toBe('2 min 05 s');
  expect(duration(3725)).toBe('1 h 02 min');
  expect(duration(200000)).toBe('2 d 7 h');
  expect(duration(-1)).toBe('–');
});

test('Values are JSON, but texts have no quotation marks.', () => {
  expect(value('adamw')).toBe('adamw');
  expect(value([0.9, 0.999])).toBe('[0.9,0.999]');
  expect(value(null)).toBe('null');
});
