// SPDX-License-Identifier: Apache-2.0
import type { Curve } from '../protocol/types';
import type { Range } from './axis';

/** The data of a curve in the form in which it is drawn. NaN stands for missing values and for values that are not
 * finite. */
export interface Trace {
  x: Float64Array;
  low: Float64Array;
  high: Float64Array;
  mean: Float64Array;
  smooth: Float64Array;
  /** True if x never decreases. It decreases if a run was resumed from an earlier step. */
  rising: boolean;
  /** The extent of the whole series; null if only a part of it was requested, or if it is empty. */
  extent: Range | null;
  /** The part of the x axis that was requested; null for all of it. */
  asked: Range | null;
}

export function traceOf(curve: Curve, asked: Range | null): Trace {
  const length = curve.x.length;
  const column = (list: (number | null)[]): Float64Array =>
    Float64Array.from({ length }, (_, index) => list[index] ?? Number.NaN);
  const x = column(curve.x);
  return {
    x,
    rising: x.every((value, index) => index === 0 || value >= x[index - 1]!),
    low: column(curve.low),
    high: column(curve.high),
    mean: column(curve.mean),
    smooth: column(curve.smooth),
    extent: extentOf(curve, asked),
    asked,
  };
}

function extentOf(curve: Curve, asked: Range | null): Range | null {
  if (asked !== null || curve.x.length === 0) return null;
  let from = curve.from ?? Infinity;
  let to = curve.to ?? -Infinity;
  for (const x of curve.x) {
    from = Math.min(from, x);
    to = Math.max(to, x);
  }
  return { from, to };
}

/** Returns the index of the first element of `x` that is not less than `value`; `x` must be sorted. */
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

/** Returns the indexes [begin, end) of the points that are needed to draw a range: all points in it, and one point
 * beyond each end. */
export function spanOf({ x, rising }: Pick<Trace, 'x' | 'rising'>, range: Range): [number, number] {
  if (!rising) return [0, x.length];
  return [Math.max(0, lowerBound(x, range.from) - 1), Math.min(x.length, lowerBound(x, range.to) + 1)];
}

/** Returns the index of the point that is nearest to `value`, or -1 if there are no points. */
export function nearestTo({ x, rising }: Pick<Trace, 'x' | 'rising'>, value: number): number {
  if (x.length === 0) return -1;
  if (!rising) return x.reduce((best, one, index) => (Math.abs(one - value) <= Math.abs(x[best]! - value) ? index : best), 0);
  const after = Math.min(x.length - 1, lowerBound(x, value));
  const before = Math.max(0, after - 1);
  return value - x[before]! < x[after]! - value ? before : after;
}

/** Returns the smallest and the largest value that are drawn in a range, or null if there are no values. */
export function heightOf(trace: Trace, range: Range, positiveOnly: boolean): [number, number] | null {
  const [begin, end] = spanOf(trace, range);
  let least = Infinity;
  let most = -Infinity;
  for (let i = begin; i < end; i++) {
    const low = trace.low[i]!;
    const high = trace.high[i]!;
    if (high > most) most = high;
    if (positiveOnly ? low > 0 && low < least : low < least) least = low;
    // Of a bucket whose smallest value is not positive, only the largest value counts.
    if (positiveOnly && !(low > 0) && high > 0 && high < least) least = high;
  }
  return least <= most && Number.isFinite(least) && Number.isFinite(most) ? [least, most] : null;
}

/** Extends the range of the y axis a little, so that no curve coincides with the frame. */
export function padded([least, most]: [number, number], logarithmic: boolean): [number, number] {
  if (logarithmic) {
    const ratio = Math.max((most / least) ** 0.06, 1.02);
    return [least / ratio, most * ratio];
  }
  const room = (most - least) * 0.06 || Math.abs(most) * 0.05 || 1;
  return [least - room, most + room];
}
