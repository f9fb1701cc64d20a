// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';

// One colour for each run, chosen so that neighbours differ in lightness as well as in hue.
const light = ['#2463b4', '#c2410c', '#23814f', '#9333a8', '#a16207', '#0e7c86', '#be185d', '#52606d', '#4338ca', '#65700a'];
const dark = ['#6ea8f0', '#f28b54', '#5fc48d', '#cf8ae0', '#e0b64a', '#4fc3cd', '#f07fac', '#9aa8b5', '#9d97f5', '#b6c24a'];

export type Theme = 'light' | 'dark';

/** The theme that is shown. */
export const theme = signal<Theme>('light');

/** The number of colours before they repeat. */
export const colourCount = light.length;

/** The colour of a run, by its place among the colours. */
export function colour(place: number, shown: Theme = theme.value): string {
  return (shown === 'dark' ? dark : light)[place % colourCount]!;
}
