// SPDX-License-Identifier: Apache-2.0
import type { HistogramSeries } from '../protocol/types';

// A heat map: steps from left to right, values from bottom to top, and the share of values as darkness.

/** One step: where it begins and ends, as shares of the width, and its row in the series. */
export interface Column {
  row: number;
  from: number;
  to: number;
}

/** Returns the columns of a series, of which no two begin in the same one of `pixels` parts of the width. */
export function columns(steps: readonly number[], pixels: number): Column[] {
  const first = steps[0];
  const last = steps.at(-1);
  if (first === undefined || last === undefined) return [];
  // The last column is as wide as the one before it.
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

/** Returns how dark the buckets of one step are, from 0 to 1: the root of the share of the fullest bucket, so that rare values can be seen. */
export function darkness(counts: readonly number[]): number[] {
  const most = Math.max(1, ...counts);
  return counts.map((count) => Math.sqrt(count / most));
}

/** Returns the smallest and the largest value that the buckets cover. */
export function range(series: HistogramSeries): { low: number; high: number } {
  const buckets = series.counts[0]?.length ?? 0;
  return { low: series.first * series.width, high: (series.first + Math.max(buckets, 1)) * series.width };
}

/** Returns the row whose column contains the place `x`, as a share of the width; -1 if there is none. */
export function rowAt(list: readonly Column[], x: number): number {
  return list.find((column) => x >= column.from && x < column.to)?.row ?? -1;
}
