// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../lib/colours';
import { count, measure, short } from '../lib/format';
import type { HistogramSeries } from '../protocol/types';
import { useSize } from '../state/hooks';
import { columns, darkness, range, rowAt } from './heat';

/** A heat map of the histograms of one tensor over time, with a line for the mean. */
export function HeatMap({ series }: { series: HistogramSeries }) {
  const [frame, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [row, setRow] = useState(-1);
  const shown = columns(series.steps, Math.max(1, Math.floor(size.width)));
  const { low, high } = range(series);
  const dark = theme.value === 'dark';
  useEffect(() => {
    if (canvas.current && size.width > 0) paint(canvas.current, size.width, size.height, series, shown);
  }, [series, size, dark]);
  // The text below describes the step under the pointer, or else the newest step.
  const at = row >= 0 && row < series.steps.length ? row : series.steps.length - 1;
  const move = (by: number) => setRow(Math.min(series.steps.length - 1, Math.max(0, at + by)));
  return (
    <div class="heat">
      <span class="heat-value high">{measure(high)}</span>
      <span class="heat-value low">{measure(low)}</span>
      <div
        class="heat-frame"
        ref={frame}
        tabIndex={0}
        role="img"
        aria-label={`Values of ${series.name} over the steps ${series.steps[0]} to ${series.steps.at(-1)}. ${described(series, at)}`}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setRow(rowAt(shown, (event.clientX - box.left) / box.width));
        }}
        onPointerLeave={() => setRow(-1)}
        onBlur={() => setRow(-1)}
        onKeyDown={(event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!by) return;
          event.preventDefault();
          move(by);
        }}
      >
        <canvas ref={canvas} />
      </div>
      <p class="heat-line">
        <span>{described(series, at)}</span>
      </p>
    </div>
  );
}

function described(series: HistogramSeries, row: number): string {
  if (row < 0) return '';
  const bad = series.not_finite[row]!;
  const values = `${measure(series.mean[row])} ± ${measure(series.deviation[row])}, ${measure(series.smallest[row])} to ${measure(series.largest[row])}`;
  return `step ${count(series.steps[row])}: ${values}${bad > 0 ? `; ${short(bad)} not finite` : ''}`;
}

function paint(canvas: HTMLCanvasElement, width: number, height: number, series: HistogramSeries, shown: ReturnType<typeof columns>): void {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (!context) return;
  const style = getComputedStyle(canvas);
  context.fillStyle = style.getPropertyValue('--accent');
  for (const { row, from, to } of shown) {
    const left = Math.round(from * canvas.width);
    const right = Math.max(left + 1, Math.round(to * canvas.width));
    const buckets = series.counts[row]!;
    darkness(buckets).forEach((dark, bucket) => {
      if (dark === 0) return;
      const top = Math.round((1 - (bucket + 1) / buckets.length) * canvas.height);
      const bottom = Math.round((1 - bucket / buckets.length) * canvas.height);
      context.globalAlpha = 0.06 + 0.94 * dark;
      context.fillRect(left, top, right - left, Math.max(1, bottom - top));
    });
  }
  const { low, high } = range(series);
  context.globalAlpha = 1;
  context.strokeStyle = style.getPropertyValue('--warn-strong');
  context.lineWidth = 1.5 * scale;
  context.beginPath();
  for (const { row, from, to } of shown) {
    const y = (1 - (series.mean[row]! - low) / (high - low)) * canvas.height;
    context.lineTo(((from + to) / 2) * canvas.width, y);
  }
  context.stroke();
}
