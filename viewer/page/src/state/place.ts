// SPDX-License-Identifier: Apache-2.0
import { batch, computed, effect, signal } from '@preact/signals';
import type { Run } from '../protocol/types';
import { runs } from './session';
import { colour } from '../lib/colours';

// What the page shows: the view, the run, and the runs that are compared with it. The part of the address after '#'
// contains the same, such as "#/curves/mnist-9ix?with=mnist-2ab", so that reloading and the buttons of the browser
// work.

export const views = ['graph', 'curves', 'samples', 'histograms', 'confusion', 'timeline', 'log', 'parameters', 'alerts', 'runs'] as const;
export type View = (typeof views)[number];

export const view = signal<View>('graph');
/** The id of the run that is shown, or null if there is none. */
export const focus = signal<string | null>(null);
/** The ids of the other runs whose curves are shown too, in the order in which they were chosen. */
export const others = signal<string[]>([]);

/** The run that is shown. */
export const run = computed<Run | null>(() => runs.value?.find((one) => one.run === focus.value) ?? null);

/** The runs whose curves are shown. */
export const chosen = computed<string[]>(() => (focus.value === null ? [] : [focus.value, ...others.value]));

// The number of the colour of each run. A run keeps its colour while the page is open.
const places = new Map<string, number>();

/** Returns the colour of a run. */
export function colourOf(id: string): string {
  if (!places.has(id)) places.set(id, places.size);
  return colour(places.get(id)!);
}

export function show(id: string): void {
  batch(() => {
    others.value = others.value.filter((one) => one !== id);
    focus.value = id;
  });
}

/** Adds a run to the comparison, or removes it. The last run cannot be removed. */
export function choose(id: string, on: boolean): void {
  if (on) {
    if (!chosen.value.includes(id)) others.value = [...others.value, id];
  } else if (focus.value === id) {
    const [next, ...rest] = others.value;
    if (next === undefined) return;
    batch(() => {
      focus.value = next;
      others.value = rest;
    });
  } else {
    others.value = others.value.filter((one) => one !== id);
  }
}

/** Drops runs that do not exist, and shows the newest run if none is chosen. */
export function settle(list: Run[]): void {
  const known = new Set(list.map((one) => one.run));
  batch(() => {
    if (focus.value === null || !known.has(focus.value)) focus.value = list[0]?.run ?? null;
    others.value = others.value.filter((id) => known.has(id) && id !== focus.value);
    for (const id of chosen.value) colourOf(id);
  });
}

/** Reads the address, and keeps it up to date from then on. */
export function startPlace(): void {
  read();
  addEventListener('hashchange', read);
  effect(() => {
    const text = write();
    if (text !== location.hash) history.pushState(null, '', text);
  });
}

function write(): string {
  const id = focus.value === null ? '' : `/${encodeURIComponent(focus.value)}`;
  const rest = others.value.length ? `?with=${others.value.map(encodeURIComponent).join(',')}` : '';
  return `#/${view.value}${id}${rest}`;
}

function read(): void {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name = '', id = ''] = path.split('/');
  const list = /(?:^|&)with=([^&]*)/.exec(query)?.[1] ?? '';
  batch(() => {
    view.value = (views as readonly string[]).includes(name) ? (name as View) : 'graph';
    if (id) focus.value = decode(id);
    others.value = [...new Set(list.split(',').filter(Boolean).map(decode))].filter((one) => one !== focus.value);
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
