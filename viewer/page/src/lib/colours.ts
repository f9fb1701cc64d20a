// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';

// The colours of runs. Neighbouring colours differ in lightness as well as in hue.
const light = ['#2463b4', '#c2410c', '#23814f', '#9333a8', '#a16207', '#0e7c86', '#be185d', '#52606d', '#4338ca', '#65700a'];
const dark = ['#6ea8f0', '#f28b54', '#5fc48d', '#cf8ae0', '#e0b64a', '#4fc3cd', '#f07fac', '#9aa8b5', '#9d97f5', '#b6c24a'];

export type Theme = 'light' | 'dark';

/** The theme that is shown at present. */
export const theme = signal<Theme>('light');

/** The number of different colours. */
export const colourCount = light.length;

/** Returns colour number `place`. After `colourCount` colours, they repeat. */
export function colour(place: number, shown: Theme = theme.value): string {
  return (shown === 'dark' ? dark : light)[place % colourCount]!;
}
