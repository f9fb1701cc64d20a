// SPDX-License-Identifier: Apache-2.0
import uPlot from 'uplot';
import { duration, short } from '../lib/format';
import type { XAxis } from '../protocol/types';
import { moved, scaled, type Range } from './axis';
import { paint, type Style } from './paint';
import { heightOf, padded, type Trace } from './trace';

export interface Drawn {
  trace: Trace;
  style: Style;
}

export interface ChartEvents {
  /** Called when the user zooms to another part of the x axis; null stands for all of it. */
  onZoom: (range: Range | null) => void;
  /** Called when the cursor, which all cards share, moves to this x; null if there is no cursor. */
  onCursor: (x: number | null) => void;
  /** Returns whether the wheel zooms without a key. If not, it scrolls the page, and zooms only with Ctrl or Alt. */
  wheelZooms: () => boolean;
}

/** Pixels that the labels of the y axis take. Most take as much as those of the other cards, so that curves stand one
 * below the other. */
const widthFor = (labels: (string | null)[]): number => Math.max(52, 14 + 6.6 * Math.max(...labels.map((one) => one?.length ?? 0)));

/**
 * One drawing of curves. uPlot supplies the scales, the axes, the cursor and the selection. paint() draws the curves,
 * because each curve has its own x values, which uPlot would first have to merge.
 */
export class Chart {
  private readonly plot: uPlot;
  private drawn: Drawn[] = [];
  private range: Range = { from: 0, to: 1 };
  private height: [number, number] = [0, 1];
  private smoothed = false;
  private ink = { text: '', grid: '' };
  private wish: { range: Range | null } | null = null;
  private readonly cleanUp = new AbortController();

  constructor(
    private readonly host: HTMLElement,
    private readonly axis: XAxis,
    private readonly logarithmic: boolean,
    private readonly events: ChartEvents,
  ) {
    this.restyle();
    this.plot = new uPlot(this.options(), [[0, 1], [null, null]], host);
    this.listen();
  }

  destroy(): void {
    this.cleanUp.abort();
    this.plot.destroy();
  }

  resize(width: number, height: number): void {
    if (width !== this.plot.width || height !== this.plot.height) this.plot.setSize({ width, height });
  }

  /** Draws curves in a part of the x axis. The y axis covers the values in this part. */
  draw(drawn: Drawn[], range: Range, smoothed: boolean): void {
    this.drawn = drawn;
    this.range = range.to > range.from ? range : { from: range.from - 0.5, to: range.from + 0.5 };
    this.smoothed = smoothed;
    this.height = this.heights();
    this.plot.batch(() => {
      this.plot.setScale('x', { min: this.range.from, max: this.range.to });
      this.plot.setScale('y', { min: this.height[0], max: this.height[1] });
    });
  }

  /** Reads the colours of the theme, which the next drawing uses. */
  restyle(): void {
    const style = getComputedStyle(this.host);
    this.ink = { text: style.getPropertyValue('--text-2'), grid: style.getPropertyValue('--grid') };
  }

  /** Calls onZoom at most once in each frame, however many events arrive. */
  private zoomTo(range: Range | null): void {
    if (!this.wish) {
      requestAnimationFrame(() => {
        const { wish } = this;
        this.wish = null;
        if (wish && !this.cleanUp.signal.aborted) this.events.onZoom(wish.range);
      });
    }
    this.wish = { range };
  }

  /** The range that the user sees, or will see in the next frame. */
  private get aim(): Range {
    return this.wish?.range ?? this.range;
  }

  private heights(): [number, number] {
    let least = Infinity;
    let most = -Infinity;
    for (const { trace } of this.drawn) {
      const height = heightOf(trace, this.range, this.logarithmic);
      if (!height) continue;
      least = Math.min(least, height[0]);
      most = Math.max(most, height[1]);
    }
    if (least > most) return this.logarithmic ? [0.1, 1] : [0, 1];
    return padded([least, most], this.logarithmic);
  }

  private options(): uPlot.Options {
    const common = {
      stroke: () => this.ink.text,
      grid: { stroke: () => this.ink.grid, width: 1 },
      ticks: { show: false },
      font: `11px ${getComputedStyle(this.host).fontFamily}`,
    };
    return {
      width: Math.max(100, this.host.clientWidth),
      height: Math.max(80, this.host.clientHeight),
      padding: [8, 10, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, auto: false, range: (_: uPlot, from: number, to: number) => [from, to] },
        y: { auto: false, distr: this.logarithmic ? 3 : 1, range: (_: uPlot, least: number, most: number) => [least, most] },
      },
      series: [{}, { show: true, scale: 'y', points: { show: false }, paths: () => null }],
      axes: [
        { ...common, size: 24, gap: 4, space: 70, ...(this.axis === 'time' ? { incrs: timeSteps } : {}), values: (_, splits) => splits.map((value) => this.label(value, splits)) },
        {
          ...common,
          size: (_: uPlot, labels: string[] | null) => widthFor(labels ?? []),
          gap: 5,
          space: 32,
          filter: (_: uPlot, splits: number[]) => splits,
          values: (_: uPlot, splits: (number | null)[]) => (this.logarithmic ? splits.map((one) => tickLabels([one])[0]!) : tickLabels(splits)),
          ...(this.logarithmic ? { splits: (_: uPlot, __: number, least: number, most: number) => logTicks(least, most) } : {}),
        },
      ],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        focus: { prox: -1 },
        sync: {
          key: `curves-${this.axis}`,
          scales: ['x', null],
          setSeries: false,
          filters: { pub: (type: string) => type === 'mousemove' || type === 'mouseleave' },
        },
        bind: { dblclick: () => () => (this.events.onZoom(null), null) },
      },
      hooks: {
        draw: [() => this.paintAll()],
        setSelect: [() => this.selected()],
        setCursor: [(plot) => this.events.onCursor((plot.cursor.left ?? -1) < 0 ? null : plot.posToVal(plot.cursor.left!, 'x'))],
      },
    };
  }

  private label(value: number, splits: number[]): string {
    if (this.axis === 'time') return duration(value);
    return tickLabels(splits)[splits.indexOf(value)] ?? short(value);
  }

  private paintAll(): void {
    const { ctx, bbox } = this.plot;
    const { x, y } = this.plot.scales;
    if (x?.min == null || y?.min == null) return;
    const frame = {
      ...bbox,
      x: { from: x.min, to: x.max! },
      y: [y.min, y.max!] as [number, number],
      logarithmic: this.logarithmic,
      ratio: uPlot.pxRatio,
    };
    for (const { trace, style } of this.drawn) paint(ctx, trace, style, frame, this.smoothed);
  }

  private selected(): void {
    const { left, width } = this.plot.select;
    if (width < 4) return;
    const range = { from: this.plot.posToVal(left, 'x'), to: this.plot.posToVal(left + width, 'x') };
    this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.events.onZoom(range);
  }

  /** Pans with the middle button or with Shift, and zooms with the wheel around the pointer. */
  private listen(): void {
    const { over } = this.plot;
    const { signal } = this.cleanUp;
    over.addEventListener('wheel', (event) => this.wheel(event), { passive: false, signal });
    let last: number | null = null;
    const grab = (event: MouseEvent) => {
      if (!(event.button === 1 || (event.button === 0 && event.shiftKey))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      last = event.clientX;
      over.classList.add('panning');
    };
    over.addEventListener('mousedown', grab, { capture: true, signal });
    const pan = (event: MouseEvent) => {
      if (last === null) return;
      this.zoomTo(moved(this.aim, (-(event.clientX - last) / over.clientWidth) * (this.aim.to - this.aim.from)));
      last = event.clientX;
    };
    const release = () => {
      last = null;
      over.classList.remove('panning');
    };
    addEventListener('mousemove', pan, { signal });
    addEventListener('mouseup', release, { signal });
  }

  private wheel(event: WheelEvent): void {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!sideways && !event.ctrlKey && !event.altKey && !this.events.wheelZooms()) return;
    event.preventDefault();
    const { left, width } = this.plot.over.getBoundingClientRect();
    const { aim } = this;
    const span = aim.to - aim.from;
    if (sideways) this.zoomTo(moved(aim, (event.deltaX / width) * span));
    else {
      const centre = aim.from + ((event.clientX - left) / width) * span;
      this.zoomTo(scaled(aim, Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) * 0.0022), centre));
    }
  }
}

const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 2592000];

/** Returns labels with enough digits to distinguish neighbouring ticks. */
export function tickLabels(splits: (number | null)[]): string[] {
  const known = splits.filter((one): one is number => one !== null);
  const largest = Math.max(...known.map(Math.abs), 0);
  const step = known.length > 1 ? Math.abs(known[1]! - known[0]!) : largest;
  const [unit, name] = largest >= 1e9 ? [1e9, 'G'] : largest >= 1e6 ? [1e6, 'M'] : largest >= 1e4 ? [1e3, 'k'] : [1, ''];
  const digits = digitsOf(step / unit);
  return splits.map((one) => {
    if (one === null) return '';
    if (one !== 0 && (largest < 1e-3 || largest >= 1e13)) return one.toExponential(1).replace('.0', '').replace('e+', 'e');
    return `${Number((one / unit).toFixed(digits))}${one === 0 ? '' : name}`;
  });
}

/** Returns the number of decimals that are needed to write the distance between two ticks exactly. */
function digitsOf(step: number): number {
  if (!(step > 0)) return 0;
  for (let digits = 0; digits < 12; digits++) {
    const shifted = step * 10 ** digits;
    if (shifted >= 0.5 && Math.abs(shifted - Math.round(shifted)) < 1e-6 * shifted) return digits;
  }
  return 12;
}

/** Returns ticks for a logarithmic axis: powers of ten, and values between them if there is room. */
export function logTicks(least: number, most: number): number[] {
  const decades = Math.log10(most / least);
  if (decades < 0.7) return evenTicks(least, most);
  const every = Math.max(1, Math.ceil(decades / 7));
  const steps = decades <= 2 ? [1, 2, 5] : decades <= 3.5 ? [1, 3] : [1];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power += 1) {
    if (power % every !== 0) continue;
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= least && tick <= most) ticks.push(Number(tick.toPrecision(3)));
    }
  }
  return ticks;
}

function evenTicks(least: number, most: number): number[] {
  const rough = (most - least) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10);
  const ticks: number[] = [];
  for (let tick = Math.ceil(least / step) * step; tick <= most; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}
