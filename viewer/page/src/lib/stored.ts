// SPDX-License-Identifier: Apache-2.0
import { effect, signal, type Signal } from '@preact/signals';

/** Returns a signal whose value is kept in the browser's local storage. A stored value that `valid` does not accept
 * is ignored. */
export function stored<T>(key: string, initial: T, valid: (value: unknown) => boolean): Signal<T> {
  const name = `trainyard.${key}`;
  const value = signal<T>(initial);
  try {
    const text = localStorage.getItem(name);
    const read: unknown = text === null ? undefined : JSON.parse(text);
    if (read !== undefined && valid(read)) value.value = read as T;
  } catch {
    // If the browser does not allow local storage, nothing is stored.
  }
  effect(() => {
    try {
      localStorage.setItem(name, JSON.stringify(value.value));
    } catch {
      // As above, nothing is stored.
    }
  });
  return value;
}

export const oneOf =
  (...allowed: unknown[]) =>
  (value: unknown): boolean =>
    allowed.includes(value);
export const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');
export const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
export const isShare = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value < 1;
