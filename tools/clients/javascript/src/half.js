// SPDX-License-Identifier: Apache-2.0
// Converts 16-bit floating-point numbers, for which JavaScript has no arrays, to float32, which represents all of them
// exactly.

/**
 * @param {number} bits of an IEEE 754 half
 * @returns {number}
 */
function halfValue(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/**
 * @param {Uint16Array} bits
 * @returns {Float32Array}
 */
export const fromFloat16 = (bits) => Float32Array.from(bits, halfValue);

/**
 * Converts bfloat16 numbers. A bfloat16 consists of the upper 16 bits of a float32.
 * @param {Uint16Array} bits
 * @returns {Float32Array}
 */
export const fromBfloat16 = (bits) => new Float32Array(Uint32Array.from(bits, (value) => value << 16).buffer);
