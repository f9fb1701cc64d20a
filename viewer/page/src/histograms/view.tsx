// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { short } from '../lib/format';
import { stored } from '../lib/stored';
import type { HistogramInfo, HistogramKind } from '../protocol/types';
import { usePush, useQuery } from '../state/hooks';
import { run } from '../state/place';
import { useKeys } from '../ui/keys';
import { Choice, Empty, Failure, Foreign, Search } from '../ui/parts';
import { HeatMap } from './heat_map';

const kinds = [
  ['weights', 'Weights'],
  ['gradients', 'Gradients'],
  ['activations', 'Activations'],
] as const;
const isKind = (value: unknown): value is HistogramKind => kinds.some(([kind]) => kind === value);
const chosenKind = stored<HistogramKind>('histogram-kind', 'weights', isKind);

/** The view of the distributions of a model's weights, gradients and activations over time. */
export function Histograms() {
  const id = run.value?.run ?? null;
  const list = useQuery('histograms', id === null ? null : { run: id });
  // Increases when there are new histograms, so that the cards request their data again.
  const [news, setNews] = useState(0);
  usePush(id, 'histograms', () => {
    setNews((old) => old + 1);
    list.again();
  });
  const search = useSignal('');
  useKeys('Histograms', [{ key: '/', help: 'Search', run: () => document.getElementById('histogram-search')?.focus() }]);
  const words = search.value.toLowerCase();
  const ofKind = list.data?.filter((one) => one.of === chosenKind.value) ?? [];
  const shown = ofKind.filter((one) => one.name.toLowerCase().includes(words));
  return (
    <section class="view histograms" aria-label="Histograms">
      <div class="toolbar">
        <h1>Histograms</h1>
        <Search id="histogram-search" label="Search tensors" value={search.value} onInput={(text) => (search.value = text)} />
        <Choice label="Values" value={chosenKind.value} options={kinds} onChange={(kind) => (chosenKind.value = kind)} />
        <span class="spacer" />
        <span class="hint">darker: more values; line: mean</span>
      </div>
      <div class="scroll" tabIndex={0}>
        {list.error && !list.data ? (
          <Failure error={list.error} again={list.again} />
        ) : !list.data ? (
          <Empty title="Asking for the histograms …" />
        ) : list.data.length === 0 ? (
          <Empty title="No histograms yet.">
            Set histograms_every_steps of the accelerator host in the launch file, on the command line, or here among the parameters while the run trains.
          </Empty>
        ) : shown.length === 0 ? (
          <Empty title={ofKind.length > 0 ? `No tensor matches '${search.value}'.` : `The run has no histograms of ${chosenKind.value}.`} />
        ) : (
          <div class="heat-grid">
            {shown.map((one) => (
              <Card key={`${id} ${one.of} ${one.name}`} run={id!} info={one} news={news} />
            ))}
          </div>
        )}
      </div>
    </section>
  );
}

function Card({ run: id, info, news }: { run: string; info: HistogramInfo; news: number }) {
  const [element, seen] = useSeen();
  const series = useQuery('histogram', seen ? { run: id, of: info.of, name: info.name, buckets: 64 } : null);
  useEffect(() => {
    if (seen && news > 0) series.again();
  }, [news]);
  return (
    <article class="heat-card" ref={element}>
      <header>
        <Foreign>{info.name}</Foreign>
        <span class="hint">{short(info.elements)} values</span>
      </header>
      {series.data ? <HeatMap series={series.data} /> : <p class="heat-waiting">{series.error ?? ' '}</p>}
    </article>
  );
}

/** Returns a reference for an element, and whether the element is visible or nearly visible. */
function useSeen(): [{ current: HTMLElement | null }, boolean] {
  const element = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setSeen(entry!.isIntersecting), { rootMargin: '200px' });
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, seen];
}
