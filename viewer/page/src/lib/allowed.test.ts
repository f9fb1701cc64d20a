// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Parameter } from '../protocol/types';
import { check, rulesOf, typedForm } from './allowed';

// The texts in these tests have the form that describe_allowed() in core/config/parameter_info.cpp writes.
const parameter = (kind: string, allowed: string, value: Parameter['value'] = null): Parameter => ({ name: 'p', kind, allowed, unit: '', settable: true, help: '', value });

const accepts = (one: Parameter, typed: string): boolean => check(one, typed).ok;

test('Rules are read from the words of a declaration.', () => {
  expect(rulesOf('a number > 0')).toEqual({ choices: [], minimum: 0, minimumExcluded: true, maximum: null });
  expect(rulesOf('a number >= 0 and <= 1 (steps)')).toEqual({ choices: [], minimum: 0, minimumExcluded: false, maximum: 1 });
  expect(rulesOf('an integer >= -5')).toMatchObject({ minimum: -5 });
  expect(rulesOf('a number <= 1e-05')).toMatchObject({ minimum: null, maximum: 1e-5 });
  expect(rulesOf('one of: cosine, linear').choices).toEqual(['cosine', 'linear']);
});

test('Numbers must lie within their bounds.', () => {
  const share = parameter('number', 'a number > 0 and <= 1');
  expect(check(share, ' 0.5 ')).toEqual({ ok: true, value: 0.5 });
  expect(check(share, '1e-3')).toEqual({ ok: true, value: 0.001 });
  for (const wrong of ['0', '1.01', '', 'half', '0x1', 'Infinity', 'NaN', '1 2']) expect(accepts(share, wrong), wrong).toBe(false);
});

test('Integers have no fraction.', () => {
  const steps = parameter('integer', 'an integer >= 1 (steps)');
  expect(accepts(steps, '10')).toBe(true);
  for (const wrong of ['0', '1.5', '1e3', '99999999999999999999']) expect(accepts(steps, wrong), wrong).toBe(false);
});

test('An error says what was given and what is allowed.', () => {
  expect(check(parameter('number', 'a number >= 0'), '-3')).toEqual({ ok: false, error: "'-3' is not allowed; a number >= 0." });
});

test('Lists are checked element by element.', () => {
  const betas = parameter('list of numbers', 'a list of numbers >= 0');
  expect(check(betas, '[0.9, 0.999]')).toEqual({ ok: true, value: [0.9, 0.999] });
  for (const wrong of ['0.9', '[0.9, "x"]', '[-1]', '[0.9']) expect(accepts(betas, wrong), wrong).toBe(false);
});

test('A text that stands for a number may be given as a number.', () => {
  const threads = parameter('string', 'an integer or a string', 'auto');
  expect(check(threads, '4')).toEqual({ ok: true, value: 4 });
  expect(check(threads, 'auto')).toEqual({ ok: true, value: 'auto' });
});

test('Choices are exact.', () => {
  const rule = parameter('string', 'one of: sgd, adam');
  expect(accepts(rule, 'adam')).toBe(true);
  expect(accepts(rule, 'adamw')).toBe(false);
});

test('What a field shows is read back as the same value.', () => {
  for (const [kind, value] of [['number', 0.001], ['bool', true], ['string', 'a b'], ['list of numbers', [1, 2]], ['any', { plugin: 'mlp' }]] as const) {
    const one = parameter(kind, `a ${kind}`, value as Parameter['value']);
    expect(check(one, typedForm(one))).toEqual({ ok: true, value });
  }
});
