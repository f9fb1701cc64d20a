// SPDX-License-Identifier: Apache-2.0
import type { Run, Series } from '../protocol/types';

export type SortKey = 'run' | 'state' | 'started' | 'step' | `final:${string}`;

export interface Order {
  key: SortKey;
  down: boolean;
}

const preferred = ['validate loss', 'validate accuracy', 'train loss', 'test accuracy', 'test loss'];

const nameOf = (series: Series): string => `${series.stage} ${series.name}`;

/** Returns the names of up to three metrics whose last values the table shows: metrics of evaluations first, and
 * only metrics that at least one run has. */
export function finalNames(all: Series[][]): string[] {
  const there = new Set(all.flatMap((list) => list.map(nameOf)));
  return preferred.filter((name) => there.has(name)).slice(0, 3);
}

export const finalOf = (series: Series[] | undefined, name: string): number | null => series?.find((one) => nameOf(one) === name)?.last ?? null;

/** Sorts runs. Unknown values come last in both directions. */
export function sorted(runs: Run[], { key, down }: Order, finals: ReadonlyMap<string, Series[]>): Run[] {
  const keyOf = (run: Run): string | number | null => {
    if (key === 'run' || key === 'state') return run[key];
    if (key === 'started') return run.started_ns;
    if (key === 'step') return run.step;
    return finalOf(finals.get(run.run), key.slice('final:'.length));
  };
  return [...runs].sort((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    const order = typeof left === 'number' ? left - (right as number) : left.localeCompare(right as string, 'en', { numeric: true });
    return down ? -order : order;
  });
}
