// SPDX-License-Identifier: Apache-2.0
import type { Series } from '../protocol/types';

/** A card: the name of a metric, and the runs and stages that have it. */
export interface CardInfo {
  name: string;
  sources: { run: string; series: Series }[];
}

const stageOrder = ['train', 'train_eval', 'validate', 'test'];

/** Returns the cards for the given runs: pinned metrics first, then losses, then other metrics by name. */
export function cardsOf(series: ReadonlyMap<string, Series[]>, runs: string[], pinned: string[]): CardInfo[] {
  const cards = new Map<string, CardInfo>();
  for (const run of runs) {
    for (const one of series.get(run) ?? []) {
      const card = cards.get(one.name) ?? { name: one.name, sources: [] };
      card.sources.push({ run, series: one });
      cards.set(one.name, card);
    }
  }
  for (const card of cards.values()) {
    card.sources.sort((a, b) => runs.indexOf(a.run) - runs.indexOf(b.run) || stagePlace(a.series.stage) - stagePlace(b.series.stage));
  }
  return [...cards.values()].sort(
    (a, b) => place(a.name, pinned) - place(b.name, pinned) || a.name.localeCompare(b.name, 'en', { numeric: true }),
  );
}

function place(name: string, pinned: string[]): number {
  const pin = pinned.indexOf(name);
  if (pin >= 0) return pin - pinned.length;
  return name === 'loss' ? 0 : name === 'accuracy' ? 1 : name.includes('/') ? 3 : 2;
}

function stagePlace(stage: string): number {
  const at = stageOrder.indexOf(stage);
  return at < 0 ? stageOrder.length : at;
}
