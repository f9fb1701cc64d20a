// SPDX-License-Identifier: Apache-2.0
import { bytes, bytesPerSecond, count, cpu, hertz, moment, percent } from '../lib/format';
import type { Component, Edge, Graph } from '../protocol/types';
import { run, view } from '../state/place';
import { logFilter } from '../log/filter';
import { Button, Foreign, StatePill } from '../ui/parts';
import { LoadBar } from './tile';
import { topicsOf, worstOf, type Link, type Model, type Node } from './model';
import { causeOf, loadOf } from './waits';

export type Selection = { kind: 'node' | 'link'; id: string };

interface Props {
  graph: Graph;
  model: Model;
  selection: Selection | null;
  onSelect: (selection: Selection | null) => void;
}

/** Everything that is known about the selected box or line, or about the run if nothing is selected. */
export function Details({ graph, model, selection, onSelect }: Props) {
  const node = selection?.kind === 'node' ? model.nodes.find((one) => one.id === selection.id) : undefined;
  const link = selection?.kind === 'link' ? model.links.find((one) => one.id === selection.id) : undefined;
  return (
    <aside class="details" aria-label="Details" tabIndex={0}>
      {node ? (
        <NodeDetails node={node} model={model} onSelect={onSelect} />
      ) : link ? (
        <LinkDetails link={link} model={model} onSelect={onSelect} />
      ) : (
        <RunDetails graph={graph} model={model} onSelect={onSelect} />
      )}
    </aside>
  );
}

function Heading({ kind, text, onClose }: { kind: string; text: string; onClose?: () => void }) {
  return (
    <header>
      <div>
        <span class="overline">{kind}</span>
        <h2>
          <Foreign>{text}</Foreign>
        </h2>
      </div>
      {onClose && <Button label="Close the details" icon="close" iconOnly quiet onPress={onClose} />}
    </header>
  );
}

function RunDetails({ graph, model, onSelect }: Omit<Props, 'selection'>) {
  const shown = run.value;
  const slow = worstOf(model);
  return (
    <>
      <Heading kind="Run" text={shown?.run ?? ''} />
      {slow && (
        <button type="button" class="callout" onClick={() => onSelect({ kind: 'node', id: slow.id })}>
          <strong>
            Bottleneck: <bdi>{slow.members.length === 1 ? slow.members[0]!.name : slow.title}</bdi>
          </strong>
          <HoldsUp node={slow} />
        </button>
      )}
      {shown && (
        <dl class="facts">
          <dt>State</dt>
          <dd>
            <StatePill state={shown.state} />
          </dd>
          {shown.message && (
            <>
              <dt>Reason</dt>
              <dd>
                <Foreign>{shown.message}</Foreign>
              </dd>
            </>
          )}
          <dt>Launch file</dt>
          <dd>
            <Foreign>{shown.file}</Foreign>
          </dd>
          <dt>Directory</dt>
          <dd>
            <Foreign>{shown.directory}</Foreign>
          </dd>
          <dt>Started</dt>
          <dd>{moment(shown.started_ns)}</dd>
          <dt>Components</dt>
          <dd>
            {count(graph.components.length)}
            {model.ranks.length > 1 && `, ${model.ranks.length} ranks`}
          </dd>
        </dl>
      )}
      {graph.processes.length > 0 && <h3>Processes</h3>}
      <table class="numbers" hidden={graph.processes.length === 0}>
        <thead>
          <tr>
            <th>name</th>
            <th class="right">pid</th>
            <th class="right">CPU</th>
            <th class="right">memory</th>
          </tr>
        </thead>
        <tbody>
          {graph.processes.map((process) => (
            <tr key={`${process.name} ${process.pid}`}>
              <td>
                <Foreign>{process.name}</Foreign>
              </td>
              <td class="right">{process.pid ?? '–'}</td>
              <td class="right">{cpu(process.cpu_percent)}</td>
              <td class="right">{bytes(process.memory_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function NodeDetails({ node, model, onSelect }: { node: Node; model: Model; onSelect: Props['onSelect'] }) {
  const load = loadOf(node.members);
  const one = node.members.length === 1 ? node.members[0]! : null;
  const showLog = () => {
    logFilter.value = { ...logFilter.value, component: one ? one.name : node.kind === 'rank' ? `rank${node.members[0]!.rank}/` : node.title };
    view.value = 'log';
  };
  return (
    <>
      <Heading kind={node.kind === 'rank' ? 'Rank' : node.kind === 'stack' ? `Component of ${node.members.length} ranks` : 'Component'} text={one ? one.name : node.title} onClose={() => onSelect(null)} />
      {node.bottlenecks.length > 0 && (
        <p class="callout">
          <strong>Bottleneck</strong>
          <HoldsUp node={node} />
        </p>
      )}
      {one && <Facts component={one} />}
      {load.busy !== null && (
        <>
          <h3>Time</h3>
          <LoadBar load={load} />
          <table class="numbers shares">
            <tbody>
              <tr>
                <td>busy</td>
                <td class="right">{percent(load.busy)}</td>
              </tr>
              {load.waiting.map((wait) => (
                <tr key={wait.kind + wait.for}>
                  <td>
                    waiting for <bdi>{causeOf(wait)}</bdi>
                  </td>
                  <td class="right">{percent(wait.share)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {!one && <Members members={node.members} />}
      <EdgeList title="Receives" links={model.links.filter((link) => link.to === node.id)} other="from" model={model} onSelect={onSelect} />
      <EdgeList title="Sends" links={model.links.filter((link) => link.from === node.id)} other="to" model={model} onSelect={onSelect} />
      <footer>
        <Button label="Show its log" icon="log" onPress={showLog} />
      </footer>
    </>
  );
}

/** Shows how much of the time the component in a box holds up the run, and on which ranks. */
function HoldsUp({ node }: { node: Node }) {
  const [worst, ...more] = node.bottlenecks;
  if (!worst) return null;
  return (
    <span>
      It holds up the run {percent(worst.share)} of the time
      {node.members.length > 1 && (
        <>
          : <bdi>{worst.component}</bdi>
          {more.length > 0 && ` and ${more.length} more`}
        </>
      )}
      .
    </span>
  );
}

function Facts({ component }: { component: Component }) {
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <span class={`dot component-${component.state}`} /> {component.state}
      </dd>
      <dt>Plugin</dt>
      <dd>
        <Foreign>{component.plugin}</Foreign>
      </dd>
      <dt>Process</dt>
      <dd>
        <Foreign>{`${component.process}${component.pid === null ? '' : ` (${component.pid})`}`}</Foreign>
      </dd>
      {component.host && (
        <>
          <dt>Host</dt>
          <dd>
            <Foreign>{component.host}</Foreign>
          </dd>
        </>
      )}
      <dt>CPU</dt>
      <dd>{cpu(component.cpu_percent)}</dd>
      <dt>Memory</dt>
      <dd>{bytes(component.memory_bytes)}</dd>
      {component.restarts !== null && (
        <>
          <dt>Restarts</dt>
          <dd class={component.restarts > 0 ? 'warn' : ''}>{component.restarts}</dd>
        </>
      )}
    </dl>
  );
}

function Members({ members }: { members: Component[] }) {
  return (
    <>
      <h3>Members</h3>
      <table class="numbers">
        <thead>
          <tr>
            <th>name</th>
            <th class="right">busy</th>
            <th class="right">CPU</th>
            <th class="right">memory</th>
          </tr>
        </thead>
        <tbody>
          {members.map((one) => (
            <tr key={one.name}>
              <td>
                <span class={`dot component-${one.state}`} /> <Foreign>{one.name}</Foreign>
              </td>
              <td class="right">{percent(one.busy)}</td>
              <td class="right">{cpu(one.cpu_percent)}</td>
              <td class="right">{bytes(one.memory_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function EdgeList(props: { title: string; links: Link[]; other: 'from' | 'to'; model: Model; onSelect: Props['onSelect'] }) {
  const rows = props.links.flatMap((link) => topicsOf(link).map((topic) => ({ link, ...topic })));
  if (rows.length === 0) return null;
  rows.sort((a, b) => (b.rate ?? -1) - (a.rate ?? -1));
  const nameOf = (id: string) => props.model.nodes.find((node) => node.id === id)?.title ?? id;
  return (
    <>
      <h3>{props.title}</h3>
      <table class="numbers">
        <tbody>
          {rows.map((row) => (
            <tr key={row.link.id + row.topic} class={(row.rate ?? 0) > 0 ? '' : 'faint'}>
              <td>
                <button type="button" class="link-button" onClick={() => props.onSelect({ kind: 'link', id: row.link.id })}>
                  <Foreign>{row.topic}</Foreign>
                </button>
                <small>
                  {props.other} <bdi>{nameOf(row.link[props.other])}</bdi>
                </small>
              </td>
              <td class="right">
                {hertz(row.rate)}
                <small>{bytesPerSecond(row.bytes)}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function LinkDetails({ link, model, onSelect }: { link: Link; model: Model; onSelect: Props['onSelect'] }) {
  const title = (id: string) => model.nodes.find((node) => node.id === id)?.title ?? id;
  return (
    <>
      <Heading kind={link.edges.length === 1 ? 'Edge' : `${link.edges.length} edges`} text={`${title(link.from)} → ${title(link.to)}`} onClose={() => onSelect(null)} />
      {[...link.edges].sort((a, b) => (b.rate_hz ?? -1) - (a.rate_hz ?? -1)).slice(0, 64).map((edge) => (
        <EdgeFacts key={edge.number} edge={edge} />
      ))}
      {link.edges.length > 64 && <p class="hint">and {link.edges.length - 64} more</p>}
    </>
  );
}

function EdgeFacts({ edge }: { edge: Edge }) {
  const full = edge.queued !== null && edge.window !== null && edge.queued >= edge.window;
  return (
    <section class="edge-facts">
      <h3>
        <Foreign>{edge.topic}</Foreign>
        <span class="policy">{edge.policy}</span>
      </h3>
      <p class="hint">
        <bdi>{edge.from}</bdi> → <bdi>{edge.to}</bdi>
      </p>
      <dl class="facts two">
        <dt>Rate</dt>
        <dd>{hertz(edge.rate_hz)}</dd>
        <dt>Bytes</dt>
        <dd>{bytesPerSecond(edge.bytes_per_s)}</dd>
        <dt>Window</dt>
        <dd>
          {count(edge.queued)} of {count(edge.window)}
          {full && <span class="warn"> full</span>}
        </dd>
        <dt>Credit left</dt>
        <dd>{edge.queued === null || edge.window === null ? '–' : count(Math.max(0, edge.window - edge.queued))}</dd>
        <dt>Dropped</dt>
        <dd class={edge.dropped ? 'bad' : ''}>{count(edge.dropped)}</dd>
        <dt>Blocked</dt>
        <dd class={edge.blocked ? 'warn' : ''}>{count(edge.blocked)}</dd>
      </dl>
    </section>
  );
}
