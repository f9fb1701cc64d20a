// SPDX-License-Identifier: Apache-2.0
import type { Range } from './axis';
import { spanOf, type Trace } from './trace';

/** How a trace is drawn. */
export interface Style {
  colour: string;
  dashed: boolean;
}

/** How values are mapped to pixels of the canvas. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
  x: Range;
  y: [number, number];
  logarithmic: boolean;
  /** The number of pixels of the canvas for each CSS pixel. */
  ratio: number;
}

type Context = CanvasRenderingContext2D;
type Project = (value: number) => number;

const mostMarkers = 60;

/** Draws a trace: a band from the smallest to the largest value of each bucket, and a line through the means. */
export function paint(context: Context, trace: Trace, style: Style, frame: Frame, smoothed: boolean): void {
  const [begin, end] = spanOf(trace, frame.x);
  if (begin >= end) return;
  const px = projectX(frame);
  const py = projectY(frame);
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.width, frame.height);
  context.clip();
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.fillStyle = context.strokeStyle = style.colour;
  context.globalAlpha = smoothed ? 0.14 : 0.22;
  band(context, trace, begin, end, px, py, frame.ratio);
  if (smoothed) {
    context.globalAlpha = 0.35;
    context.lineWidth = frame.ratio;
    line(context, trace.x, trace.mean, begin, end, px, py);
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.6 * frame.ratio;
  context.setLineDash(style.dashed ? [5 * frame.ratio, 4 * frame.ratio] : []);
  const shown = smoothed ? trace.smooth : trace.mean;
  line(context, trace.x, shown, begin, end, px, py);
  context.setLineDash([]);
  if (end - begin <= mostMarkers) markers(context, trace.x, trace.mean, begin, end, px, py, 2.4 * frame.ratio);
  context.restore();
}

function projectX({ left, width, x }: Frame): Project {
  const scale = width / (x.to - x.from || 1);
  return (value) => left + (value - x.from) * scale;
}

/** Returns the function that maps values to y positions. On a logarithmic scale, values that are not positive are
 * mapped to a position below the visible area. */
function projectY({ top, height, y, logarithmic }: Frame): Project {
  const from = logarithmic ? Math.log10(y[0]) : y[0];
  const to = logarithmic ? Math.log10(y[1]) : y[1];
  const scale = height / (to - from || 1);
  const bottom = top + height;
  if (!logarithmic) return (value) => bottom - (value - from) * scale;
  return (value) => (value > 0 ? bottom - (Math.log10(value) - from) * scale : bottom + height);
}

function band(context: Context, { x, low, high }: Trace, begin: number, end: number, px: Project, py: Project, ratio: number): void {
  let start = begin;
  while (start < end) {
    while (start < end && Number.isNaN(low[start]!)) start++;
    let stop = start;
    let wide = false;
    while (stop < end && !Number.isNaN(low[stop]!)) {
      wide ||= high[stop]! > low[stop]!;
      stop++;
    }
    if (wide) {
      context.beginPath();
      for (let i = start; i < stop; i++) context.lineTo(px(x[i]!), py(high[i]!));
      // The band is at least one pixel high, so that a single bucket remains visible.
      for (let i = stop - 1; i >= start; i--) context.lineTo(px(x[i]!), py(low[i]!) + ratio * 0.5);
      context.fill();
    }
    start = stop;
  }
}

function line(context: Context, x: Float64Array, values: Float64Array, begin: number, end: number, px: Project, py: Project): void {
  context.beginPath();
  let joined = false;
  for (let i = begin; i < end; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) {
      joined = false;
    } else if (joined) {
      context.lineTo(px(x[i]!), py(value));
    } else {
      context.moveTo(px(x[i]!), py(value));
      joined = true;
    }
  }
  context.stroke();
}

function markers(context: Context, x: Float64Array, values: Float64Array, begin: number, end: number, px: Project, py: Project, radius: number): void {
  for (let i = begin; i < end; i++) {
    if (Number.isNaN(values[i]!)) continue;
    context.beginPath();
    context.arc(px(x[i]!), py(values[i]!), radius, 0, 2 * Math.PI);
    context.fill();
  }
}
