// SPDX-License-Identifier: Apache-2.0
// Conversions of names, and suggestions for unknown names.
import { TrainyardError } from "../errors.js";

/**
 * Returns the smallest number of letters that must be inserted, removed or replaced to get from one text to the other.
 * @param {string} left
 * @param {string} right
 * @returns {number}
 */
function distance(left, right) {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; ++i) {
    const next = [i];
    for (let j = 1; j <= right.length; ++j) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (left[i - 1] === right[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[right.length];
}

/**
 * Returns the end of an error message about an unknown name: the most similar known name, and all known names.
 * @param {string} given
 * @param {Iterable<string>} names
 * @returns {string}
 */
export function suggestion(given, names) {
  const known = [...names].sort();
  if (known.length === 0) return "; none is known";
  const short = given.slice(0, 80);
  const ranked = known.map((name) => ({ name, far: distance(short, name) })).sort((left, right) => left.far - right.far);
  const isNear = ranked[0].far <= Math.max(1, Math.floor(short.length / 3));
  return `; ${isNear ? `did you mean '${ranked[0].name}'? ` : ""}known: ${known.join(", ")}`;
}

/**
 * Throws TrainyardError if `options` contains a key that is not in `keys`.
 * @param {string} where
 * @param {object} options
 * @param {string[]} keys
 */
export function checkKeys(where, options, keys) {
  for (const key of Object.keys(options)) {
    if (!keys.includes(key)) throw new TrainyardError(`${where}: no option '${key}'${suggestion(key, keys)}`);
  }
}

/** @param {string} name such as my_input @returns {string} such as MyInput */
export const camel = (name) => name.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");

/** @param {string} name such as MyClass @returns {string} such as my_class */
export const snake = (name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toLowerCase();
