// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clamped, moved, scaled, type Range } from '../curves/axis';
import { count } from '../lib/format';
import { theme } from '../lib/colours';
import { useQuery, useSize } from '../state/hooks';
import { run } from '../state/place';
import { Button, Choice, Empty, Failure, Foreign } from '../ui/parts';
import { useKeys } from '../ui/keys';
import { batchBeside, keyOf, lengthOf, pathOf, pictureOf, type Batch, type Picture } from './model';
import { labelWidth, paint, sliceAt, timeAt, tops } from './paint';

const lengths = [
  ['100', '0.1 s'],
  ['500', '0.5 s'],
  ['2000', '2 s'],
] as const;

/** The view of a timeline: what every component did and waited for during a short time. The path of one batch
 * through the components can be highlighted. */
export function TimelineView() {
  const shown = run.value;
  const [ms, setMs] = useState<(typeof lengths)[number][0]>('500');
  const { data, error, loading, again } = useQuery('timeline', shown?.live ? { run: shown.run, ms: Number(ms) } : null);
  const picture = useMemo(() => (data ? pictureOf(data) : null), [data]);
  const why = shown?.live ? (loading ? 'It is being recorded.' : null) : 'Only of a run that is running.';
  useKeys('Timeline', [{ key: 'o', help: 'Record again', run: () => !why && again() }]);
  return (
    <section class="view timeline" aria-label="Timeline">
      <div class="toolbar">
        <h1>Timeline</h1>
        <Choice label="Length" value={ms} options={lengths} onChange={setMs} />
        <Button label={loading && shown?.live ? 'Recording …' : 'Record again'} icon="play" why={why} onPress={again} />
        <span class="spacer" />
        {data && data.lost > 0 && <span class="warn">{count(data.lost)} spans are missing</span>}
        {picture && <span class="hint">{lengthOf(picture.length)} recorded</span>}
      </div>
      {!shown?.live ? (
        <Empty title="A timeline can only be recorded while a run is running.">'trainyard bag record /spans' keeps one for later.</Empty>
      ) : error && !picture ? (
        <Failure error={error} again={again} />
      ) : !picture ? (
        <Empty title="Recording what the components do …" />
      ) : picture.rows.length === 0 ? (
        <Empty title="No component did anything in this time.">The run may be paused, or its steps may take longer than was recorded.</Empty>
      ) : (
        <Drawing key={data!.length_ns} picture={picture} />
      )}
    </section>
  );
}

function Drawing({ picture }: { picture: Picture }) {
  const [host, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const whole: Range = { from: 0, to: picture.length };
  const [zoomed, setZoomed] = useState<Range | null>(null);
  const [batch, setBatch] = useState<Batch | null>(null);
  const [tip, setTip] = useState<{ x: number; y: number; text: string } | null>(null);
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const range = zoomed ?? whole;
  const zoom = (change: (old: Range) => Range) => setZoomed((old) => clamped(change(old ?? whole), whole));
  const height = Math.min(tops(picture.rows).at(-1)!, 12_000);
  const colours = (name: string) => getComputedStyle(host.current!).getPropertyValue(name).trim();
  const scene = { picture, range, batch, width: size.width, colours };

  const follow = (next: Batch | null) => {
    setBatch(next);
    if (!next) return;
    const path = pathOf(picture, next);
    const from = Math.min(...path.map((one) => one.begin));
    const to = Math.max(...path.map((one) => one.end));
    if (path.length > 0 && (from < range.from || to > range.to)) zoom(() => scaled({ from, to }, 1.2));
  };
  useKeys('Timeline: what is shown', [
    { key: '+', help: 'Zoom in', run: () => zoom((old) => scaled(old, 0.6)) },
    { key: '-', help: 'Zoom out', run: () => zoom((old) => scaled(old, 1 / 0.6)) },
    { key: 'ArrowLeft', help: 'Earlier', run: () => zoom((old) => moved(old, (old.from - old.to) / 5)) },
    { key: 'ArrowRight', help: 'Later', run: () => zoom((old) => moved(old, (old.to - old.from) / 5)) },
    { key: '0', help: 'Show everything', run: () => setZoomed(null) },
    { key: 'n', help: 'Follow the next batch', run: () => follow(batchBeside(picture, batch, 1)) },
    { key: 'b', help: 'Follow the batch before', run: () => follow(batchBeside(picture, batch, -1)) },
    { key: 'Escape', help: 'Follow no batch', run: () => follow(null) },
  ]);

  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || size.width === 0) return;
    const ratio = globalThis.devicePixelRatio || 1;
    element.width = Math.round(size.width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    // Colours are looked up only once for each drawing, because reading a property takes as long as drawing a hundred
    // rectangles.
    const style = getComputedStyle(host.current!);
    const known = new Map<string, string>();
    const cached = (name: string) => {
      if (!known.has(name)) known.set(name, style.getPropertyValue(name).trim());
      return known.get(name)!;
    };
    paint(context, { ...scene, colours: cached }, height);
  }, [picture, range.from, range.to, batch, size.width, height, theme.value]);

  // The listener is added here, because Preact adds passive listeners for the wheel, which cannot prevent the page from
  // scrolling.
  useLayoutEffect(() => {
    const element = canvas.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      const by = event.deltaX || event.deltaY;
      zoom((old) =>
        across ? moved(old, (by / size.width) * (old.to - old.from)) : scaled(old, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), timeAt(Math.max(event.offsetX, labelWidth), old, size.width)),
      );
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [size.width, picture]);

  return (
    <div class="timeline-body">
      <div class="timeline-canvas" ref={host} data-theme={theme.value}>
        <canvas
          ref={canvas}
          style={{ height: `${height}px` }}
          role="img"
          aria-label={`${picture.rows.length} rows in ${lengthOf(range.to - range.from)}; the keys are listed under ?`}
          onPointerDown={(event) => {
            drag.current = { x: event.clientX, y: event.clientY, moved: false };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={(event) => {
            const start = drag.current;
            if (!start) {
              const slice = sliceAt(scene, event.offsetX, event.offsetY);
              setTip(slice && { x: event.offsetX, y: event.offsetY, text: `${slice.kind === 'step' ? `step ${slice.step}` : slice.text} · ${lengthOf(slice.end - slice.begin)}` });
              return;
            }
            if (!start.moved && Math.hypot(event.clientX - start.x, event.clientY - start.y) < 4) return;
            zoom((old) => moved(old, ((start.x - event.clientX) / Math.max(size.width - labelWidth, 1)) * (old.to - old.from)));
            host.current!.scrollTop += start.y - event.clientY;
            drag.current = { x: event.clientX, y: event.clientY, moved: true };
            setTip(null);
          }}
          onPointerUp={(event) => {
            if (drag.current && !drag.current.moved) setBatch(sliceAt(scene, event.offsetX, event.offsetY)?.batch ?? null);
            drag.current = null;
          }}
          onPointerLeave={() => setTip(null)}
          onDblClick={() => setZoomed(null)}
        />
        {tip && (
          <div class="timeline-tip" style={{ left: `${Math.min(tip.x + 12, size.width - 180)}px`, top: `${tip.y + 14}px` }}>
            <Foreign title={false}>{tip.text}</Foreign>
          </div>
        )}
      </div>
      <Path picture={picture} batch={batch} onBatch={follow} />
    </div>
  );
}

/** A table with the path of the batch, which screen readers can read, too. */
function Path({ picture, batch, onBatch }: { picture: Picture; batch: Batch | null; onBatch: (batch: Batch | null) => void }) {
  if (!batch) {
    return <p class="timeline-hint hint">Press on something to follow its batch, or press n. The wheel zooms, and dragging moves.</p>;
  }
  const path = pathOf(picture, batch);
  const begin = path[0]?.begin ?? 0;
  return (
    <aside class="timeline-path" aria-label="The batch that is followed">
      <header>
        <h2>
          Batch {count(batch.number)} of rank {batch.rank}
        </h2>
        <Button label="Before" title="The batch before (b)" quiet onPress={() => onBatch(batchBeside(picture, batch, -1))} />
        <Button label="Next" title="The next batch (n)" quiet onPress={() => onBatch(batchBeside(picture, batch, 1))} />
        <Button label="Follow no batch" icon="close" iconOnly quiet onPress={() => onBatch(null)} />
      </header>
      <div class="scroll" tabIndex={0}>
        <table key={keyOf(batch)}>
          <thead>
            <tr>
              <th class="right">begin</th>
              <th class="right">takes</th>
              <th>component</th>
              <th>what</th>
            </tr>
          </thead>
          <tbody>
            {path.slice(0, 500).map((one, index) => (
              <tr key={index}>
                <td class="right nowrap">{lengthOf(one.begin - begin)}</td>
                <td class="right nowrap">{lengthOf(one.end - one.begin)}</td>
                <td>
                  <Foreign>{picture.rows['row' in one ? one.row : one.to]!.label}</Foreign>
                </td>
                <td style={{ paddingLeft: `${8 + ('depth' in one ? one.depth * 10 : 0)}px` }}>
                  <Foreign>{one.text}</Foreign>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </aside>
  );
}
