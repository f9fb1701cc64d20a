// SPDX-License-Identifier: Apache-2.0
import type { HistogramSeries } from '../protocol/types';

// Functions for a heat map: steps go from left to right, values from bottom to top, and a bucket is the darker the more
// values it contains.

/** The column of one step: where it begins and ends, as fractions of the width, and its row in the series. */
export interface Column {
  row: number;
  from: number;
  to: number;
}

/** Returns the columns of a series. If the width is divided into `pixels` parts, no two columns begin in the same
 * part. */
export function columns(steps: readonly number[], pixels: number): Column[] {
  const first = steps[0];
  const last = steps.at(-1);
  if (first === undefined || last === undefined) return [];
  // The last column is as wide as the column before it.
  const end = steps.length > 1 ? last + (last - steps.at(-2)!) : last + 1;
  const place = (step: number): number => (step - first) / (end - first);
  const kept: Column[] = [];
  let pixel = -1;
  steps.forEach((step, row) => {
    const at = Math.floor(place(step) * pixels);
    if (at <= pixel) return;
    pixel = at;
    if (kept.length > 0) kept.at(-1)!.to = place(step);
    kept.push({ row, from: place(step), to: 1 });
  });
  return kept;
}

/** Returns how dark the buckets of one step are, from 0 to 1: the square root of the count relative to the fullest
 * bucket. The root makes rare values visible. */
export function darkness(counts: readonly number[]): number[] {
  const most = Math.max(1, ...counts);
  return counts.map((count) => Math.sqrt(count / most));
}

/** Returns the smallest and the largest value that the buckets cover. */
export function range(series: HistogramSeries): { low: number; high: number } {
  const buckets = series.counts[0]?.length ?? 0;
  return { low: series.first * series.width, high: (series.first + Math.max(buckets, 1)) * series.width };
}

/** Returns the row whose column contains the position `x`, a fraction of the width, or -1 if there is none. */
export function rowAt(list: readonly Column[], x: number): number {
  return list.find((column) => x >= column.from && x < column.to)?.row ?? -1;
}
