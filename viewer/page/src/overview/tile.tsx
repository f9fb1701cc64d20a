// SPDX-License-Identifier: Apache-2.0
import { bytes, cpu, percent } from '../lib/format';
import { Foreign } from '../ui/parts';
import { stateOf, sum, type Model, type Node } from './model';
import { causeOf, loadOf, type Load } from './waits';

/** Returns the height of the boxes. It is larger if the use of time is measured, and even larger if a box shows
 * several ranks. */
export function tileHeight(model: Model | null): number {
  const measured = model?.nodes.some(isMeasured);
  const timed = model?.nodes.some((node) => node.members.some((one) => one.busy !== null));
  const several = model?.nodes.some((node) => node.kind !== 'component');
  return 48 + (measured ? 18 : 0) + (timed ? 30 : 0) + (timed && several ? 22 : 0);
}

/** One box of the graph. */
export function Tile({ node }: { node: Node }) {
  const first = node.members[0]!;
  const several = node.members.length > 1;
  const load = loadOf(node.members);
  const restarts = node.members.reduce((total, one) => total + (one.restarts ?? 0), 0);
  return (
    <>
      <span class="tile-head">
        <span class={`dot component-${stateOf(node.members)}`} />
        <Foreign>{node.title}</Foreign>
        {several && <span class="times">×{node.kind === 'rank' ? new Set(node.members.map((one) => one.name)).size : node.members.length}</span>}
      </span>
      {node.bottlenecks.length > 0 && <span class="tag bottleneck">bottleneck</span>}
      <span class="tile-sub">
        <Foreign>{node.kind === 'rank' ? 'one rank' : first.plugin === node.title ? placeOf(node) : `${first.plugin} · ${placeOf(node)}`}</Foreign>
        {restarts > 0 && <span class="warn">{restarts === 1 ? '1 restart' : `${restarts} restarts`}</span>}
      </span>
      {isMeasured(node) && (
        <span class="tile-numbers">
          <span>
            <i>CPU</i> {cpu(total(node, 'cpu_percent'))}
          </span>
          <span>
            <i>mem</i> {bytes(total(node, 'memory_bytes'))}
          </span>
        </span>
      )}
      {several && node.members.some((one) => one.busy !== null) && <RankStrip node={node} />}
      {load.busy !== null && <LoadBar load={load} />}
    </>
  );
}

/** Returns true if processor time or memory are known, which is not so for a component that shares its process with
 * others. */
const isMeasured = (node: Node): boolean => node.members.some((one) => one.cpu_percent !== null || one.memory_bytes !== null);

/** Returns the sum over the processes of a box. Components of the same process have the same numbers, so each
 * process counts once. */
function total(node: Node, key: 'cpu_percent' | 'memory_bytes'): number | null {
  const byProcess = new Map(node.members.map((one) => [`${one.host} ${one.process}`, one[key]]));
  return [...byProcess.values()].reduce(sum, null);
}

function placeOf(node: Node): string {
  const processes = new Set(node.members.map((one) => one.process));
  const hosts = new Set(node.members.map((one) => one.host).filter(Boolean));
  const place = processes.size > 1 ? `${processes.size} processes` : (node.members[0]?.process ?? '');
  return hosts.size > 1 ? `${place}, ${hosts.size} hosts` : hosts.size === 1 ? `${place} @ ${[...hosts][0]}` : place;
}

/** A bar chart with one column for each rank, whose height is the share of time in which the component is busy. A
 * rank that differs is easy to see. */
function RankStrip({ node }: { node: Node }) {
  return (
    <span class="rank-strip" role="img" aria-label={node.members.map((one) => `${one.name} busy ${percent(one.busy)}`).join(', ')}>
      {node.members.map((one) => (
        <span key={one.name} class={node.bottlenecks.some((each) => each.component === one.name) ? 'slow' : ''} title={`${one.name}: busy ${percent(one.busy)}`}>
          <i style={{ height: `${Math.max(4, (one.busy ?? 0) * 100)}%` }} />
        </span>
      ))}
    </span>
  );
}

/** A bar that shows the shares of time in which components are busy or wait, and for whom they wait. */
export function LoadBar({ load }: { load: Load }) {
  const parts = [{ name: 'busy', share: load.busy ?? 0 }, ...load.waiting.map((one) => ({ name: `waiting for ${causeOf(one)}`, share: one.share }))];
  const text = parts.map((part) => `${part.name} ${percent(part.share)}`).join(', ');
  const most = load.waiting[0];
  return (
    <span class="load" title={text}>
      <span class="load-bar" role="img" aria-label={text}>
        {parts.map((part, index) => (
          <i key={part.name} class={index === 0 ? 'busy' : `waiting waiting-${Math.min(index, 3)}`} style={{ width: `${part.share * 100}%` }} />
        ))}
      </span>
      <span class="load-text" aria-hidden="true">
        <span>busy {percent(load.busy)}</span>
        {most && (
          <span class="load-wait">
            <i /> {percent(most.share)} <bdi>{causeOf(most)}</bdi>
          </span>
        )}
      </span>
    </span>
  );
}
