// SPDX-License-Identifier: Apache-2.0
import { signal, useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../lib/colours';
import { duration, measure, short, unknown } from '../lib/format';
import { useSize } from '../state/hooks';
import { colourOf } from '../state/place';
import { Button, Foreign } from '../ui/parts';
import { clamped, logScale, moved, scaled, smoothing, xAxis, zoom, type Range } from './axis';
import type { CardInfo } from './cards';
import { Chart } from './chart';
import { nearestTo, type Trace } from './trace';
import { extentOf, useTraces, type Source } from './traces';

/** The name of the card that fills the view, or null. */
export const enlarged = signal<string | null>(null);
export const pinnable = { is: (_: string): boolean => false, toggle: (_: string): void => {} };

/** One card, with the curves of one metric in all chosen runs. It requests its data and draws only while it is
 * visible. */
export function Card({ card, several, big = false }: { card: CardInfo; several: boolean; big?: boolean }) {
  const element = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(big);
  const cursor = useSignal<number | null>(null);
  const zoomBy = useRef<(change: (range: Range) => Range | null) => void>(() => {});
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setSeen(entry!.isIntersecting), { rootMargin: '150px' });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  const keys: Record<string, () => void> = {
    '+': () => zoomBy.current((range) => scaled(range, 0.7)),
    '=': () => zoomBy.current((range) => scaled(range, 0.7)),
    '-': () => zoomBy.current((range) => scaled(range, 1 / 0.7)),
    ArrowLeft: () => zoomBy.current((range) => moved(range, -(range.to - range.from) / 8)),
    ArrowRight: () => zoomBy.current((range) => moved(range, (range.to - range.from) / 8)),
    Enter: () => (enlarged.value = big ? null : card.name),
    p: () => pinnable.toggle(card.name),
  };
  return (
    <article
      ref={element}
      class={`card${big ? ' big' : ''}`}
      id={cardId(card.name)}
      tabIndex={0}
      aria-label={`Curves of ${card.name}`}
      onKeyDown={(event) => {
        const act = event.target === event.currentTarget && !event.ctrlKey && !event.metaKey && !event.altKey ? keys[event.key] : undefined;
        if (!act) return;
        event.preventDefault();
        act();
      }}
    >
      <header>
        <h2>
          <Foreign>{card.name}</Foreign>
        </h2>
        <CursorX cursor={cursor} />
        <Button label={pinnable.is(card.name) ? 'Unpin' : 'Pin to the front'} icon="star" iconOnly quiet pressed={pinnable.is(card.name)} onPress={() => pinnable.toggle(card.name)} />
        <Button label={big ? 'Back to all cards' : 'Enlarge'} icon={big ? 'close' : 'expand'} iconOnly quiet onPress={() => (enlarged.value = big ? null : card.name)} />
      </header>
      {seen ? <Body card={card} several={several} big={big} cursor={cursor} zoomBy={zoomBy} /> : <div class="plot" />}
    </article>
  );
}

export const cardId = (name: string): string => `card-${encodeURIComponent(name)}`;

function CursorX({ cursor }: { cursor: ReadonlySignal<number | null> }) {
  const x = cursor.value;
  if (x === null) return <span class="cursor-x" />;
  return <span class="cursor-x">{xAxis.value === 'time' ? duration(x) : `${xAxis.value} ${Math.round(x).toLocaleString('en-US')}`}</span>;
}

interface BodyProps {
  card: CardInfo;
  several: boolean;
  big: boolean;
  cursor: Signal<number | null>;
  zoomBy: { current: (change: (range: Range) => Range | null) => void };
}

function Body({ card, several, big, cursor, zoomBy }: BodyProps) {
  const [host, size] = useSize<HTMLDivElement>();
  const chart = useRef<Chart | null>(null);
  const sources: Source[] = card.sources.map(({ run, series }) => ({ run, stage: series.stage, name: card.name }));
  const { traces, pick, error } = useTraces(sources, size.width);
  const extent = extentOf(traces);

  zoomBy.current = (change) => {
    if (!extent) return;
    const wish = change(zoom.peek() ?? extent);
    zoom.value = wish && clamped(wish, extent);
  };
  const ready = size.width > 0 && size.height > 0;
  useLayoutEffect(() => {
    if (!ready) return undefined;
    const made = new Chart(host.current!, xAxis.value, logScale.value, {
      onZoom: (range) => zoomBy.current(() => range),
      onCursor: (x) => (cursor.value = x),
      wheelZooms: () => big,
    });
    chart.current = made;
    return () => {
      chart.current = null;
      made.destroy();
    };
  }, [ready, xAxis.value, logScale.value, big]);
  useLayoutEffect(() => chart.current?.resize(size.width, size.height), [size.width, size.height]);
  useLayoutEffect(() => chart.current?.restyle(), [theme.value]);

  const range = zoom.value ?? extent;
  const styles = sources.map((source) => ({ colour: colourOf(source.run), dashed: source.stage !== 'train' }));
  // A layout effect draws in the same frame in which the user zooms.
  useLayoutEffect(() => {
    if (!chart.current || !range) return;
    const drawn = sources.flatMap((source, index) => {
      const trace = pick(source, zoom.value);
      return trace ? [{ trace, style: styles[index]! }] : [];
    });
    chart.current.draw(drawn, range, smoothing.value > 0);
  });
  return (
    <>
      <div class="plot" ref={host} data-theme={theme.value}>
        {error && !extent && <p class="plot-note">{error}</p>}
        {!error && traces.size > 0 && !extent && <p class="plot-note">No values yet</p>}
        {extent && card.sources.every(({ series }) => series.last === null) && <p class="plot-note">Only values that are not finite</p>}
      </div>
      <Legend card={card} several={several} cursor={cursor} pick={(source) => pick(source, zoom.value)} styles={styles} />
    </>
  );
}

interface LegendProps {
  card: CardInfo;
  several: boolean;
  cursor: ReadonlySignal<number | null>;
  pick: (source: Source) => Trace | null;
  styles: { colour: string; dashed: boolean }[];
}

/** The values under the cursor, or the newest values if there is no cursor. */
function Legend({ card, several, cursor, pick, styles }: LegendProps) {
  const x = cursor.value;
  return (
    <ul class="legend">
      {card.sources.map(({ run, series }, index) => {
        const trace = x === null ? null : pick({ run, stage: series.stage, name: card.name });
        const at = trace ? nearestTo(trace, x!) : -1;
        const value = trace ? (at < 0 ? null : trace.mean[at]!) : series.last;
        const smooth = trace && at >= 0 && smoothing.value > 0 ? trace.smooth[at]! : null;
        const spread = trace && at >= 0 && trace.high[at]! > trace.low[at]! ? `${measure(trace.low[at]!)} … ${measure(trace.high[at]!)}` : '';
        return (
          <li key={`${run} ${series.stage}`} title={spread ? `smallest … largest value here: ${spread}` : `${short(series.rows)} values, the last one at step ${series.last_step ?? unknown}`}>
            <svg class="swatch" viewBox="0 0 18 8" aria-hidden="true">
              <path d="M1 4h16" style={{ stroke: styles[index]!.colour }} stroke-dasharray={styles[index]!.dashed ? '4 3' : undefined} />
            </svg>
            <span class="legend-name">
              {several && (
                <>
                  <bdi>{run}</bdi>{' '}
                </>
              )}
              <bdi class="stage">{series.stage}</bdi>
            </span>
            {smooth !== null && <span class="legend-smooth">≈{measure(smooth)}</span>}
            <span class="legend-value">{measure(value)}</span>
          </li>
        );
      })}
    </ul>
  );
}
