// SPDX-License-Identifier: Apache-2.0
import type { Json, Parameter } from '../protocol/types';

/** The rules for the value of a parameter, parsed from its description, such as "a number >= 0 and <= 1 (steps)". */
export interface Rules {
  choices: string[];
  minimum: number | null;
  minimumExcluded: boolean;
  maximum: number | null;
}

export type Checked = { ok: true; value: Json } | { ok: false; error: string };

const bound = (operator: string): RegExp => new RegExp(`(?:^|\\s)${operator}\\s*(-?\\d[\\d.]*(?:e[+-]?\\d+)?)`, 'i');

export function rulesOf(allowed: string): Rules {
  const choices = /^one of: (.*)$/.exec(allowed)?.[1];
  const least = bound('>=').exec(allowed)?.[1];
  const above = bound('>').exec(allowed)?.[1];
  const most = bound('<=').exec(allowed)?.[1];
  return {
    choices: choices ? choices.split(', ') : [],
    minimum: least !== undefined ? Number(least) : above !== undefined ? Number(above) : null,
    minimumExcluded: least === undefined && above !== undefined,
    maximum: most !== undefined ? Number(most) : null,
  };
}

/** Converts what the user has typed to a value of the parameter, or explains why it is not allowed. The server
 * checks the value again. */
export function check(parameter: Parameter, typed: string): Checked {
  const rules = rulesOf(parameter.allowed);
  const read = readKind(parameter, typed.trim(), typed);
  if (!read.ok) return read;
  const wrong = (Array.isArray(read.value) ? read.value : [read.value]).some((one) => !within(rules, one));
  return wrong ? no(parameter, typed) : read;
}

/** Returns the text that an input field shows for a value. check() converts it back to the same value. */
export const typedForm = (parameter: Parameter): string =>
  typeof parameter.value === 'string' ? parameter.value : JSON.stringify(parameter.value);

function readKind(parameter: Parameter, trimmed: string, typed: string): Checked {
  switch (parameter.kind) {
    case 'bool':
      return trimmed === 'true' || trimmed === 'false' ? yes(trimmed === 'true') : no(parameter, typed);
    case 'integer':
      return /^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(Number(trimmed)) ? yes(Number(trimmed)) : no(parameter, typed);
    case 'number':
      return isNumber(trimmed) ? yes(Number(trimmed)) : no(parameter, typed);
    case 'string':
      return /^an integer or a string/.test(parameter.allowed) && /^\d+$/.test(trimmed) ? yes(Number(trimmed)) : yes(typed);
    default:
      return readJson(parameter, trimmed, typed);
  }
}

function readJson(parameter: Parameter, trimmed: string, typed: string): Checked {
  let value: Json;
  try {
    value = JSON.parse(trimmed) as Json;
  } catch {
    // Where a text is allowed, such as the name of a plugin, it can be typed without quotation marks.
    return /^(plugin|any)$/.test(parameter.kind) && trimmed !== '' ? yes(trimmed) : no(parameter, typed);
  }
  const element = { 'list of integers': Number.isInteger, 'list of numbers': isFiniteNumber, 'list of strings': isText }[parameter.kind];
  if (element && !(Array.isArray(value) && value.every(element))) return no(parameter, typed);
  return yes(value);
}

function within(rules: Rules, value: Json): boolean {
  if (rules.choices.length && typeof value === 'string' && !rules.choices.includes(value)) return false;
  if (typeof value !== 'number') return true;
  if (rules.minimum !== null && (rules.minimumExcluded ? value <= rules.minimum : value < rules.minimum)) return false;
  return rules.maximum === null || value <= rules.maximum;
}

const isNumber = (text: string): boolean => text !== '' && Number.isFinite(Number(text)) && !/^0[xob]/i.test(text);
const isFiniteNumber = (value: Json): boolean => typeof value === 'number' && Number.isFinite(value);
const isText = (value: Json): boolean => typeof value === 'string';
const yes = (value: Json): Checked => ({ ok: true, value });
const no = (parameter: Parameter, typed: string): Checked => ({
  ok: false,
  error: `${typed.trim() === '' ? 'Nothing' : `'${typed.trim()}'`} is not allowed; ${parameter.allowed}.`,
});
