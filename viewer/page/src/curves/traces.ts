// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { era } from '../state/session';
import { smoothing, xAxis, zoom, type Range } from './axis';
import { growth } from './catalogue';
import { loader } from './loader';
import { traceOf, type Trace } from './trace';

export interface Source {
  run: string;
  stage: string;
  name: string;
}

/** The data of one curve that a card holds: a coarse overview of all of it, and the part that was requested last in
 * more detail. */
export interface Held {
  overview: Trace | null;
  detail: Trace | null;
}

const pause = 110;

/**
 * Loads the curves of a card. New curves are requested immediately. When the user zooms, smooths or resizes, they are
 * requested after a short pause, because the old curves can be drawn meanwhile and another change usually follows soon.
 */
export function useTraces(sources: Source[], width: number) {
  const held = useRef(new Map<string, Held>());
  const [, redraw] = useState(0);
  const [error, setError] = useState<string | null>(null);
  const asked = useRef('');
  const drawnGrowth = useRef('');
  const grown = sources.map((source) => growth.value.get(source.run) ?? 0).join();
  const connected = era.value;
  const names = sources.map(keyOf).join('\n');
  const basis = `${xAxis.value} ${names}`;
  const question = `${width} ${smoothing.value} ${zoom.value?.from} ${zoom.value?.to}`;

  useEffect(() => {
    if (width === 0 || connected === 0) return undefined;
    const first = asked.current !== basis;
    if (first) held.current = kept(held.current, sources, asked.current.split(' ')[0] === xAxis.value);
    asked.current = basis;
    const range = zoom.value && { from: zoom.value.from, to: zoom.value.to };
    const store = (source: Source, part: Partial<Held>): void => {
      if (asked.current !== basis) return;
      const old = held.current.get(keyOf(source)) ?? { overview: null, detail: null };
      held.current.set(keyOf(source), { ...old, ...part });
      setError(null);
      redraw((turn) => turn + 1);
    };
    const ask = (source: Source, span: Range | null, points: number): void =>
      loader.load(
        `${keyOf(source)} ${span === null}`,
        { ...source, x: xAxis.value, from: span?.from ?? null, to: span?.to ?? null, points: Math.min(8000, Math.ceil(points)), smooth: smoothing.value },
        (curve) => store(source, span ? { detail: traceOf(curve, span) } : { overview: traceOf(curve, null), ...(range ? {} : { detail: null }) }),
        (failure) => setError(failure.message),
      );
    const send = (): void => {
      for (const source of sources) {
        const stale = !held.current.get(keyOf(source))?.overview || drawnGrowth.current !== grown;
        if (!range || stale) ask(source, null, width);
        if (range) ask(source, widened(range), width * 2);
      }
      drawnGrowth.current = grown;
    };
    const timer = setTimeout(send, first ? 0 : pause);
    return () => clearTimeout(timer);
  }, [basis, question, grown, connected]);
  useEffect(
    () => () => {
      for (const key of held.current.keys()) for (const overview of [true, false]) loader.drop(`${key} ${overview}`);
    },
    [],
  );
  /** Returns the best available data for a part of the x axis: the detail if it covers the part, otherwise the
   * overview. */
  const pick = (source: Source, range: Range | null): Trace | null => {
    const { overview = null, detail = null } = held.current.get(keyOf(source)) ?? {};
    return range && detail?.asked && covers(detail.asked, range, overview) ? detail : (overview ?? detail);
  };
  return { traces: held.current as ReadonlyMap<string, Held>, pick, error };
}

/** Returns the extent of all curves of a card, or null if none has been loaded yet. */
export function extentOf(traces: ReadonlyMap<string, Held>): Range | null {
  let extent: Range | null = null;
  for (const { overview } of traces.values()) {
    if (!overview?.extent) continue;
    const { from, to } = overview.extent;
    extent = extent ? { from: Math.min(extent.from, from), to: Math.max(extent.to, to) } : { from, to };
  }
  return extent;
}

/** Returns a range that is twice as wide as what is shown, so that a small movement needs no new data. */
const widened = ({ from, to }: Range): Range => ({ from: from - (to - from) / 2, to: to + (to - from) / 2 });

const keyOf = ({ run, stage, name }: Source): string => JSON.stringify([run, stage, name]);

function covers(asked: Range, range: Range, overview: Trace | null): boolean {
  const extent = overview?.extent;
  const from = extent ? Math.max(range.from, extent.from) : range.from;
  const to = extent ? Math.min(range.to, extent.to) : range.to;
  return asked.from <= from && asked.to >= to;
}

/** Returns the data that can still be used when the card shows other curves. */
function kept(held: Map<string, Held>, sources: Source[], sameAxis: boolean): Map<string, Held> {
  const keys = new Set(sources.map(keyOf));
  return sameAxis ? new Map([...held].filter(([key]) => keys.has(key))) : new Map();
}
