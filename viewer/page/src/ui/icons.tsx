// SPDX-License-Identifier: Apache-2.0
// The icons of the page: strokes in a square of 16 units, in the colour of the surrounding text.

const paths = {
  graph: 'M2.5 8h2.2M4.7 5.5h3v5h-3zM11.3 2.5h2.2v4h-2.2zM11.3 9.5h2.2v4h-2.2zM7.7 8h1.8M9.5 8V4.5h1.8M9.5 8v3.5h1.8',
  curves: 'M2 2v12h12M4.5 5c1 5.5 3 6.5 9 6.8',
  samples: 'M2.5 3.5h11v9h-11zM2.5 10.5l3-3 2.5 2.5 2-2 3.5 3.2M10.5 6.2v.1',
  histograms: 'M2.5 13.500h11M3.500 13.500v-3h2v3M7 13.500v-8h2v8M10.500 13.500v-5h2v5',
  confusion: 'M2.500 2.500h11v11h-11zM2.500 8h11M8 2.500v11M5 5.200v.1M10.800 10.800v.1',
  timeline: 'M2.5 3.5h5M5.5 8h6M9.5 12.5h4',
  log: 'M2.5 4h11M2.5 8h8M2.5 12h10',
  parameters: 'M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6M10.2 2.8v3.4M5.8 9.8v3.4',
  alerts: 'M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.1',
  runs: 'M2.5 3.5h1M6 3.5h7.5M2.5 8h1M6 8h7.5M2.5 12.5h1M6 12.5h7.5',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2l7.5 4.8L5 12.8z',
  stop: 'M4 4h8v8H4z',
  save: 'M8 2.5v7M5 7l3 3 3-3M2.5 12.5v1h11v-1',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  light: 'M8 5.3a2.7 2.7 0 100 5.4 2.7 2.7 0 000-5.4M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  dark: 'M13 9.7A5.5 5.5 0 016.3 3 5.5 5.5 0 1013 9.7z',
  auto: 'M8 2.5a5.5 5.5 0 100 11zM8 2.5a5.5 5.5 0 010 11',
  help: 'M6 6.2a2 2 0 114 0c0 1.4-2 1.6-2 3M8 11.6v.1',
  close: 'M4 4l8 8M12 4l-8 8',
  expand: 'M9.5 2.5h4v4M13.5 2.5L9 7M6.5 13.5h-4v-4M2.5 13.5L7 9',
  star: 'M8 2.2l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4L2.2 6.5l4-.6z',
  search: 'M7 2.8a4.2 4.2 0 100 8.4 4.2 4.2 0 000-8.4M10.2 10.2l3.3 3.3',
  down: 'M8 3v9.5M4.5 9L8 12.5 11.5 9',
  chevron: 'M4.5 6.3L8 9.8l3.5-3.5',
  fit: 'M2.5 6v-3.500h3.500M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" data-filled={filled || undefined}>
      <path d={paths[name]} />
    </svg>
  );
}
