// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import type { XAxis } from '../protocol/types';
import { oneOf, isShare, isBoolean, stored } from '../lib/stored';

export interface Range {
  from: number;
  to: number;
}

/** What the x axis of the curves shows. */
export const xAxis = stored<XAxis>('x', 'step', oneOf('step', 'time', 'samples'));
/** The weight of earlier values in the smoothed curve, from 0 (no smoothing) to less than 1. */
export const smoothing = stored<number>('smoothing', 0.6, isShare);
export const logScale = stored<boolean>('log-scale', false, isBoolean);
/** The part of the x axis that all cards show; null for everything. */
export const zoom = signal<Range | null>(null);

/** Returns a range that is `factor` times as wide; `centre` keeps its relative position. */
export const scaled = (range: Range, factor: number, centre = (range.from + range.to) / 2): Range => ({
  from: centre - (centre - range.from) * factor,
  to: centre + (range.to - centre) * factor,
});

export const moved = (range: Range, by: number): Range => ({ from: range.from + by, to: range.to + by });

/** Limits a range to the data, and to a width that can be drawn. Returns null if the range covers all data. */
export function clamped(range: Range, extent: Range): Range | null {
  const whole = extent.to - extent.from;
  const width = Math.max(range.to - range.from, Math.max(Math.abs(extent.to), 1) * 1e-9);
  if (!Number.isFinite(width) || width >= whole) return null;
  const from = Math.min(Math.max(range.from, extent.from - width * 0.5), extent.to - width * 0.5);
  return { from, to: from + width };
}
