// SPDX-License-Identifier: Apache-2.0
import type { Curve } from '../protocol/types';
import type { Range } from './axis';

/** The data of a curve in the form in which it is drawn: numbers only, NaN for what is not a number. */
export interface Trace {
  x: Float64Array;
  low: Float64Array;
  high: Float64Array;
  mean: Float64Array;
  smooth: Float64Array;
  /** The extent of the whole series. */
  extent: Range | null;
  /** The part of the x axis that was asked for; null for everything. */
  asked: Range | null;
}

export function traceOf(curve: Curve, asked: Range | null): Trace {
  const length = curve.x.length;
  const column = (list: (number | null)[]): Float64Array =>
    Float64Array.from({ length }, (_, index) => list[index] ?? Number.NaN);
  return {
    x: column(curve.x),
    low: column(curve.low),
    high: column(curve.high),
    mean: column(curve.mean),
    smooth: column(curve.smooth),
    extent: extentOf(curve, asked),
    asked,
  };
}

function extentOf(curve: Curve, asked: Range | null): Range | null {
  if (curve.from !== null && curve.to !== null) return { from: curve.from, to: curve.to };
  const first = curve.x[0];
  return asked === null && first !== undefined ? { from: first, to: curve.x.at(-1)! } : null;
}

/** The index of the first x that is not below `value`. */
export function lowerBound(x: Float64Array, value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The indexes [begin, end) of what is needed to draw a range: everything in it, and one point beyond each end. */
export function spanOf(x: Float64Array, range: Range): [number, number] {
  return [Math.max(0, lowerBound(x, range.from) - 1), Math.min(x.length, lowerBound(x, range.to) + 1)];
}

/** The index of the point that is nearest to `value`, or -1 if there is none. */
export function nearestTo(x: Float64Array, value: number): number {
  if (x.length === 0) return -1;
  const after = Math.min(x.length - 1, lowerBound(x, value));
  const before = Math.max(0, after - 1);
  return value - x[before]! < x[after]! - value ? before : after;
}

/** The smallest and largest value that are drawn in a range; null if there are none. */
export function heightOf(trace: Trace, range: Range, positiveOnly: boolean): [number, number] | null {
  const [begin, end] = spanOf(trace.x, range);
  let least = Infinity;
  let most = -Infinity;
  for (let i = begin; i < end; i++) {
    const low = trace.low[i]!;
    const high = trace.high[i]!;
    if (high > most) most = high;
    if (positiveOnly ? low > 0 && low < least : low < least) least = low;
    // A bucket whose smallest value is not positive still shows its largest one.
    if (positiveOnly && !(low > 0) && high > 0 && high < least) least = high;
  }
  return least <= most && Number.isFinite(least) && Number.isFinite(most) ? [least, most] : null;
}

/** Room above and below the values, so that no curve runs along the frame. */
export function padded([least, most]: [number, number], logarithmic: boolean): [number, number] {
  if (logarithmic) {
    const ratio = Math.max((most / least) ** 0.06, 1.02);
    return [least / ratio, most * ratio];
  }
  const room = (most - least) * 0.06 || Math.abs(most) * 0.05 || 1;
  return [least - room, most + room];
}
