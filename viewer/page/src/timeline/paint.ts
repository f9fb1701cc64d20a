// SPDX-License-Identifier: Apache-2.0
import type { Range } from '../curves/axis';
import { isSame, lengthOf, type Arrow, type Batch, type Picture, type Row, type Slice } from './model';

export const labelWidth = 190;
export const axisHeight = 24;
const bar = 16;
const gap = 8;

/** Returns the y position of the top of each row, and of the end of the last row. */
export function tops(rows: Row[]): number[] {
  const edges = [axisHeight];
  for (const row of rows) edges.push(edges.at(-1)! + row.depths * bar + gap);
  return edges;
}

export interface Scene {
  picture: Picture;
  range: Range;
  batch: Batch | null;
  width: number;
  colours: (name: string) => string;
}

/** Returns the x position of a time, in pixels from the left edge of the canvas. */
export const xOf = (time: number, range: Range, width: number): number =>
  labelWidth + ((time - range.from) / (range.to - range.from)) * (width - labelWidth);

export const timeAt = (x: number, range: Range, width: number): number =>
  range.from + ((x - labelWidth) / Math.max(width - labelWidth, 1)) * (range.to - range.from);

/** Returns the slice at a position of the canvas, or null if there is none. */
export function sliceAt(scene: Scene, x: number, y: number): Slice | null {
  const edges = tops(scene.picture.rows);
  const row = scene.picture.rows.findIndex((_, index) => y >= edges[index]! && y < edges[index + 1]!);
  if (row < 0 || x < labelWidth) return null;
  const depth = Math.floor((y - edges[row]!) / bar);
  const time = timeAt(x, scene.range, scene.width);
  // A slice can be narrower than a pixel, so positions near it count, too.
  const slack = ((scene.range.to - scene.range.from) / Math.max(scene.width - labelWidth, 1)) * 1.5;
  const found = scene.picture.rows[row]!.slices.filter((slice) => slice.depth === depth && slice.begin - slack <= time && slice.end + slack >= time);
  return found.sort((a, b) => a.end - a.begin - (b.end - b.begin))[0] ?? null;
}

/** Returns ticks about `space` pixels apart, whose distance is 1, 2 or 5 times a power of ten. */
export function ticks(range: Range, pixels: number, space = 110): number[] {
  const rough = ((range.to - range.from) * space) / Math.max(pixels, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-3)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const list: number[] = [];
  for (let tick = Math.ceil(range.from / step) * step; tick <= range.to && list.length < 200; tick += step) list.push(tick);
  return list;
}

/** Draws the whole picture. Of the slices that are narrower than a pixel, at most one is drawn in each pixel, which
 * limits the work. */
export function paint(context: CanvasRenderingContext2D, scene: Scene, height: number): void {
  const { picture, width, colours } = scene;
  context.clearRect(0, 0, width, height);
  context.font = `11px ${colours('--sans')}`;
  context.textBaseline = 'middle';
  const edges = tops(picture.rows);
  paintAxis(context, scene, height);
  context.save();
  context.beginPath();
  context.rect(labelWidth, axisHeight, width - labelWidth, height);
  context.clip();
  picture.rows.forEach((row, index) => paintRow(context, scene, row, edges[index]!));
  if (scene.batch) {
    for (const arrow of picture.arrows) if (isSame(arrow.batch, scene.batch)) paintArrow(context, scene, arrow, edges);
  }
  context.restore();
  paintLabels(context, scene, edges);
}

function paintAxis(context: CanvasRenderingContext2D, { range, width, colours }: Scene, height: number): void {
  for (const tick of ticks(range, width - labelWidth)) {
    const x = Math.round(xOf(tick, range, width)) + 0.5;
    context.strokeStyle = colours('--grid');
    context.beginPath();
    context.moveTo(x, axisHeight);
    context.lineTo(x, height);
    context.stroke();
    context.fillStyle = colours('--text-2');
    context.fillText(lengthOf(Math.max(tick, 0)), x + 3, axisHeight / 2);
  }
}

function paintRow(context: CanvasRenderingContext2D, scene: Scene, row: Row, top: number): void {
  const { range, width, batch, colours } = scene;
  // For each depth, the pixel up to which slices have been drawn.
  const drawn: number[] = [];
  for (const slice of row.slices) {
    if (slice.end < range.from || slice.begin > range.to) continue;
    const left = Math.max(xOf(slice.begin, range, width), labelWidth - 1);
    const right = Math.min(xOf(slice.end, range, width), width + 1);
    const chosen = isSame(slice.batch, batch);
    if (!chosen && right <= (drawn[slice.depth] ?? -1)) continue;
    drawn[slice.depth] = Math.max(right, left + 1);
    context.globalAlpha = batch && !chosen ? 0.28 : 1;
    context.fillStyle = colours(`--span-${slice.kind}`) || colours('--span-other');
    context.fillRect(left, top + slice.depth * bar, Math.max(right - left - 0.5, 1), bar - 1);
    if (right - left > 34) paintText(context, slice, left, right, top, colours);
  }
  context.globalAlpha = 1;
}

function paintText(context: CanvasRenderingContext2D, slice: Slice, left: number, right: number, top: number, colours: Scene['colours']): void {
  context.fillStyle = colours('--span-text');
  const room = right - left - 8;
  let text = slice.kind === 'step' ? `step ${slice.step}` : slice.text;
  const width = context.measureText(text).width;
  if (width > room) text = `${text.slice(0, Math.max(Math.floor((text.length * room) / width) - 1, 1))}…`;
  context.fillText(text, left + 4, top + slice.depth * bar + bar / 2);
}

function paintArrow(context: CanvasRenderingContext2D, { range, width, colours }: Scene, arrow: Arrow, edges: number[]): void {
  const [x0, x1] = [xOf(arrow.begin, range, width), xOf(arrow.end, range, width)];
  const [y0, y1] = [edges[arrow.from]! + bar / 2, edges[arrow.to]! + bar / 2];
  context.strokeStyle = colours('--text');
  context.fillStyle = colours('--text');
  context.lineWidth = 1.25;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + 18, y0, x1 - 18, y1, x1 - 4, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 6, y1 - 3.5);
  context.lineTo(x1 - 6, y1 + 3.5);
  context.fill();
  context.lineWidth = 1;
}

function paintLabels(context: CanvasRenderingContext2D, { picture, width, colours }: Scene, edges: number[]): void {
  let process = '';
  picture.rows.forEach((row, index) => {
    const y = edges[index]!;
    if (row.process !== process) {
      process = row.process;
      context.strokeStyle = colours('--line-2');
      context.beginPath();
      context.moveTo(0, Math.round(y - gap / 2) + 0.5);
      context.lineTo(width, Math.round(y - gap / 2) + 0.5);
      context.stroke();
    }
    context.fillStyle = colours('--text');
    context.fillText(shortened(context, row.label, labelWidth - 14), 6, y + bar / 2);
  });
}

/** Shortens a text to the available width by removing its beginning, because long names differ at the end. */
function shortened(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let kept = text;
  while (kept.length > 1 && context.measureText(`…${kept}`).width > room) kept = kept.slice(1);
  return `…${kept}`;
}
