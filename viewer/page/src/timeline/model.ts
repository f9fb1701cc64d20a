// SPDX-License-Identifier: Apache-2.0
import type { Timeline } from '../protocol/types';

/** A bar in a row, which stands for a span. Times are nanoseconds since the beginning of the first work. */
export interface Slice {
  row: number;
  /** The number of slices in the row that enclose this slice. */
  depth: number;
  kind: string;
  text: string;
  peer: string;
  begin: number;
  end: number;
  step: number;
  batch: Batch | null;
}

/** A batch: the rank of its data loader, and its number among the batches of this data loader. */
export interface Batch {
  rank: number;
  number: number;
}

export interface Row {
  label: string;
  process: string;
  component: string;
  /** The largest number of slices that are nested in each other; at least 1. */
  depths: number;
  /** Sorted by the time at which they begin. An enclosing slice comes before the slices in it. */
  slices: Slice[];
}

/** A message, from the row of its sender to the row of its receiver. */
export interface Arrow {
  from: number;
  to: number;
  text: string;
  begin: number;
  end: number;
  batch: Batch | null;
}

export interface Picture {
  length: number;
  rows: Row[];
  arrows: Arrow[];
  /** All batches, in the order in which they appear. */
  batches: Batch[];
}

/** Converts an answer of the server to the picture that is drawn. */
export function pictureOf(timeline: Timeline): Picture {
  const rows = timeline.rows.map((row) => ({
    label: labelOf(row),
    process: row.process,
    component: row.component,
    depths: 1,
    slices: [] as Slice[],
  }));
  const homes = new Map(timeline.rows.flatMap((row, index) => (row.steps || row.own_thread > 0 ? [] : [[row.component, index] as const])));
  const arrows: Arrow[] = [];
  const { spans, texts } = timeline;
  spans.row.forEach((row, index) => {
    const begin = spans.begin_ns[index]!;
    const number = spans.batch[index] ?? null;
    const common = {
      text: texts[spans.text[index]!] ?? '',
      begin,
      end: begin + spans.ns[index]!,
      batch: number === null ? null : { rank: spans.rank[index]!, number },
    };
    const peer = texts[spans.peer[index]!] ?? '';
    if (spans.kind[index] === 'hop') {
      const from = homes.get(peer);
      if (from !== undefined) arrows.push({ ...common, from, to: row });
    } else {
      rows[row]?.slices.push({ ...common, row, depth: 0, kind: spans.kind[index]!, peer, step: spans.step[index]! });
    }
  });
  const start = startAtFirst(rows, arrows);
  for (const row of rows) nest(row);
  return { length: Math.max(timeline.length_ns - start, 1), rows, arrows, batches: batchesOf(rows) };
}

/** Moves everything such that the first work begins at 0, and returns by how much. Messages may have been under way long
 * before, such as batches that were loaded ahead, and components may have waited long; these begin at negative times. */
function startAtFirst(rows: Row[], arrows: Arrow[]): number {
  let start = Infinity;
  for (const { slices } of rows) for (const { kind, begin } of slices) if (kind !== 'wait') start = Math.min(start, begin);
  if (!Number.isFinite(start)) return 0;
  for (const each of [...rows.flatMap(({ slices }) => slices), ...arrows]) {
    each.begin -= start;
    each.end -= start;
  }
  return start;
}

function labelOf(row: Timeline['rows'][number]): string {
  if (row.steps) return `${row.component}: steps`;
  return row.own_thread > 0 ? `${row.component}: thread ${row.own_thread}` : row.component;
}

/** Sorts the slices of a row, and determines how they are nested. */
function nest(row: Row): void {
  row.slices.sort((a, b) => a.begin - b.begin || b.end - a.end);
  const open: number[] = [];
  for (const slice of row.slices) {
    // A slice that ends earlier does not enclose this slice, although it began earlier. Such overlaps occur because
    // clocks are inaccurate.
    while (open.length > 0 && (open.at(-1)! <= slice.begin || open.at(-1)! < slice.end)) open.pop();
    slice.depth = open.length;
    open.push(slice.end);
    row.depths = Math.max(row.depths, slice.depth + 1);
  }
}

function batchesOf(rows: Row[]): Batch[] {
  const first = new Map<string, { batch: Batch; begin: number }>();
  for (const { slices } of rows) {
    for (const { batch, begin } of slices) {
      if (!batch) continue;
      const known = first.get(keyOf(batch));
      if (!known || begin < known.begin) first.set(keyOf(batch), { batch, begin });
    }
  }
  return [...first.values()].sort((a, b) => a.begin - b.begin).map(({ batch }) => batch);
}

export const keyOf = (batch: Batch): string => `${batch.rank}/${batch.number}`;

export const isSame = (a: Batch | null, b: Batch | null): boolean => a !== null && b !== null && a.rank === b.rank && a.number === b.number;

/** Returns everything that a batch has caused, in the order of time. Waits between two messages are left out. */
export function pathOf(picture: Picture, batch: Batch): (Slice | Arrow)[] {
  const slices = picture.rows.flatMap((row) => row.slices.filter((slice) => isSame(slice.batch, batch) && slice.kind !== 'step' && !(slice.kind === 'wait' && slice.depth === 0)));
  return [...slices, ...picture.arrows.filter((arrow) => isSame(arrow.batch, batch))].sort((a, b) => a.begin - b.begin || b.end - a.end);
}

/** Returns the batch after or before `batch`, or the first batch if `batch` is null. */
export function batchBeside(picture: Picture, batch: Batch | null, by: 1 | -1): Batch | null {
  const { batches } = picture;
  if (batches.length === 0) return null;
  const at = batches.findIndex((one) => isSame(one, batch));
  if (at < 0) return by > 0 ? batches[0]! : batches.at(-1)!;
  return batches[Math.min(Math.max(at + by, 0), batches.length - 1)]!;
}

/** 1234567 -> "1.235 ms" */
export function lengthOf(ns: number): string {
  const [size, unit] = ns < 1e3 ? [ns, 'ns'] : ns < 1e6 ? [ns / 1e3, 'µs'] : ns < 1e9 ? [ns / 1e6, 'ms'] : [ns / 1e9, 's'];
  return `${Number(size.toPrecision(4))} ${unit}`;
}
