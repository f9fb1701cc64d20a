// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from 'preact/hooks';
import { usePush, useQuery, useSize } from '../state/hooks';
import { run } from '../state/place';
import { oneOf, stored, isBoolean } from '../lib/stored';
import { Button, Check, Choice, Empty, Failure } from '../ui/parts';
import { useKeys } from '../ui/keys';
import { Canvas } from './canvas';
import { Details, type Selection } from './details';
import { useFlowing } from './flow';
import { layoutOf } from './layout';
import { modelOf, worstOf, type Model, type Ranks } from './model';
import { tileHeight } from './tile';

const ranksWish = stored<Ranks>('ranks', 'stacked', oneOf('stacked', 'apart'));
const showQuiet = stored<boolean>('quiet-edges', false, isBoolean);

/** The view of the components of a run, their activity, and the messages between them. */
export function Overview() {
  const id = run.value?.run ?? null;
  const query = useQuery('graph', id === null ? null : { run: id });
  usePush(id, 'graph', (push) => query.set(() => push.graph));
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set([0]));
  const [selection, setSelection] = useState<Selection | null>(null);
  const [fitted, fit] = useState(0);
  useEffect(() => setSelection(null), [id]);

  const graph = query.data;
  const all = useMemo(() => graph && modelOf(graph, { ranks: ranksWish.value, open }), [graph, ranksWish.value, open]);
  const flowing = useFlowing(id, graph, all);
  const model = useMemo(() => all && visible(all, flowing, showQuiet.value), [all, flowing, showQuiet.value]);
  const height = tileHeight(model);
  // The layout is computed again only if the boxes or lines change, not with every new number.
  const shape = model && JSON.stringify([height, model.nodes.map((one) => one.id), model.links.map((one) => [one.id, flowing.has(one.id)])]);
  const [frame, size] = useSize<HTMLDivElement>();
  const layout = useMemo(() => (model && size.width > 0 ? layoutOf(model, height, flowing, size) : null), [shape, size.width, size.height]);

  const toggleRank = (rank: number) =>
    setOpen((old) => new Set(old.has(rank) ? [...old].filter((one) => one !== rank) : [...old, rank]));
  useKeys('Graph', [
    { key: '0', help: 'Fit the graph into the window', run: () => fit((old) => old + 1) },
    { key: 'f', help: 'Fold or unfold the ranks', run: () => (ranksWish.value = ranksWish.value === 'stacked' ? 'apart' : 'stacked') },
    { key: 'q', help: 'Show or hide quiet edges', run: () => (showQuiet.value = !showQuiet.value) },
    { key: 'b', help: 'Select the bottleneck', run: () => setSelection(bottleneckOf(model)) },
    { key: 'Escape', help: 'Select nothing', run: () => setSelection(null) },
  ]);

  const severalRanks = (model?.ranks.length ?? 0) > 1;
  return (
    <section class="view overview" aria-label="Graph">
      <div class="toolbar">
        <h1>Graph</h1>
        {severalRanks && (
          <Choice
            label="Ranks"
            value={ranksWish.value}
            options={[
              ['stacked', `${model!.ranks.length} ranks stacked`],
              ['apart', 'Ranks apart'],
            ]}
            onChange={(value) => (ranksWish.value = value)}
          />
        )}
        {severalRanks && ranksWish.value === 'apart' && (
          <>
            <Button quiet label="Unfold all" onPress={() => setOpen(new Set(model!.ranks))} />
            <Button quiet label="Fold all" onPress={() => setOpen(new Set())} />
          </>
        )}
        <Check
          label="Quiet edges"
          title="Edges over which no message passes now, such as those that are used once at the start"
          checked={showQuiet.value}
          onChange={(on) => (showQuiet.value = on)}
        />
        <span class="spacer" />
        <Button label="Fit" icon="fit" quiet onPress={() => fit((old) => old + 1)} />
      </div>
      <div class="overview-body">
        <div class="canvas-frame" ref={frame}>
          {query.error && !graph && run.value?.state === 'starting' ? (
            <Empty title="The run is starting.">Its components appear here as soon as they answer.</Empty>
          ) : query.error && !graph && run.value?.live === false ? (
            <Empty title="Nothing is known of the components of this run.">The graph of a run that is over can be shown if the run was recorded, or if the viewer has followed it.</Empty>
          ) : query.error && !graph ? (
            <Failure error={query.error} again={query.again} />
          ) : !model || !layout ? (
            <Empty title="Asking for the graph …" />
          ) : model.nodes.length === 0 ? (
            <Empty title="This run has no components now.">
              The graph of a run that is over is shown if the run or its recording has kept it.
            </Empty>
          ) : (
            <Canvas
              model={model}
              layout={layout}
              flowing={flowing}
              size={size}
              fitted={`${id} ${shape} ${fitted}`}
              selection={selection}
              onSelect={setSelection}
              onRank={toggleRank}
            />
          )}
        </div>
        {graph && all && <Details graph={graph} model={all} selection={selection} onSelect={setSelection} />}
      </div>
    </section>
  );
}

/** Returns the model without the links that carry no messages. A box that would lose all its links keeps up to two. */
function visible(model: Model, flowing: ReadonlySet<string>, quiet: boolean): Model {
  if (quiet || flowing.size === 0) return model;
  const shown = new Set(model.links.filter((link) => flowing.has(link.id)));
  const joined = new Set([...shown].flatMap((link) => [link.from, link.to]));
  for (const node of model.nodes.filter((one) => !joined.has(one.id))) {
    const own = model.links.filter((link) => link.from === node.id || link.to === node.id);
    for (const link of own.sort((a, b) => b.edges.length - a.edges.length).slice(0, 2)) shown.add(link);
  }
  return { ...model, links: model.links.filter((link) => shown.has(link)) };
}

function bottleneckOf(model: Model | null): Selection | null {
  const node = model && worstOf(model);
  return node ? { kind: 'node', id: node.id } : null;
}
