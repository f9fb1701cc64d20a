// SPDX-License-Identifier: Apache-2.0
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { count, duration, lastPart, measure, moment, short } from '../lib/format';
import type { Run, Series } from '../protocol/types';
import { useQuery } from '../state/hooks';
import { choose, chosen, colourOf, focus, show, view } from '../state/place';
import { listRuns, runs } from '../state/session';
import { Button, Check, Empty, Foreign, Search, StatePill } from '../ui/parts';
import { useKeys } from '../ui/keys';
import { finalNames, finalOf, sorted, type Order, type SortKey } from './table';

const finals = signal<ReadonlyMap<string, Series[]>>(new Map());

/** The view of all runs: running launches, past runs and recordings. */
export function Runs() {
  const search = useSignal('');
  const onlyLive = useSignal(false);
  const order = useSignal<Order>({ key: 'started', down: true });
  useKeys('Runs', [
    { key: '/', help: 'Search for a run', run: () => document.getElementById('run-search')?.focus() },
    { key: 'l', help: 'Only live runs, or all', run: () => (onlyLive.value = !onlyLive.value) },
  ]);
  // The server announces when a run begins or ends, but not the progress of each run, so the list is requested
  // regularly.
  useEffect(() => {
    const timer = setInterval(() => void listRuns(), 5000);
    return () => clearInterval(timer);
  }, []);
  const word = search.value.toLowerCase();
  const all = runs.value;
  const shown = (all ?? []).filter((one) => (!onlyLive.value || one.live) && `${one.run} ${one.name} ${one.file} ${one.state} ${one.source}`.toLowerCase().includes(word));
  const names = finalNames([...finals.value.values()]);
  const list = sorted(shown, order.value, finals.value);
  return (
    <section class="view runs" aria-label="Runs">
      <div class="toolbar">
        <h1>Runs</h1>
        <Search id="run-search" label="Search runs" value={search.value} onInput={(text) => (search.value = text)} />
        <Check label="Only live" checked={onlyLive.value} onChange={(on) => (onlyLive.value = on)} />
        <span class="spacer" />
        {chosen.value.length > 1 && <Button label={`Compare ${chosen.value.length} runs`} kind="primary" onPress={() => (view.value = 'curves')} />}
      </div>
      <div class="scroll" tabIndex={0}>
        {!all ? (
          <Empty title="Asking for the runs …" />
        ) : list.length === 0 ? (
          <Empty title={all.length === 0 ? 'There are no runs.' : 'No run matches.'}>{all.length === 0 && "Start one with 'trainyard launch'; it appears here by itself."}</Empty>
        ) : (
          <table class="grid-table runs-table">
            <thead>
              <tr>
                <th scope="col">
                  <span class="visually-hidden">compare</span>
                </th>
                <Head order={order} name="run" text="run" />
                <Head order={order} name="state" text="state" />
                <Head order={order} name="started" text="started" />
                <Head order={order} name="step" text="steps" right />
                {names.map((name) => (
                  <Head key={name} order={order} name={`final:${name}`} text={name} right />
                ))}
                <th scope="col">launch file</th>
              </tr>
            </thead>
            <tbody>
              {list.map((one) => (
                <Row key={one.run} run={one} names={names} />
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}

function Head({ order, name, text, right }: { order: { value: Order }; name: SortKey; text: string; right?: boolean }) {
  const on = order.value.key === name;
  return (
    <th scope="col" class={right ? 'right' : ''} aria-sort={on ? (order.value.down ? 'descending' : 'ascending') : undefined}>
      <button type="button" onClick={() => (order.value = { key: name, down: on ? !order.value.down : name === 'started' })}>
        <bdi>{text}</bdi>
        <i>{on ? (order.value.down ? '↓' : '↑') : ''}</i>
      </button>
    </th>
  );
}

function Row({ run, names }: { run: Run; names: string[] }) {
  const row = useRef<HTMLTableRowElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry!.isIntersecting && setSeen(true));
    observer.observe(row.current!);
    return () => observer.disconnect();
  }, []);
  const on = chosen.value.includes(run.run);
  return (
    <tr ref={row} class={`${focus.value === run.run ? 'focused' : ''}${on ? ' chosen' : ''}`}>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${run.run}`}
          checked={on}
          disabled={on && chosen.value.length === 1}
          style={on ? { accentColor: colourOf(run.run) } : undefined}
          onChange={(event) => choose(run.run, event.currentTarget.checked)}
        />
      </td>
      <th scope="row">
        <button
          type="button"
          class="link-button"
          onClick={() => {
            show(run.run);
            view.value = 'graph';
          }}
        >
          <Foreign>{run.run}</Foreign>
        </button>
        {run.source === 'recording' && <span class="tag">recording</span>}
      </th>
      <td>
        <StatePill state={run.state} />
        {run.message && (
          <small class="why">
            <Foreign>{run.message}</Foreign>
          </small>
        )}
      </td>
      <td class="nowrap">
        {moment(run.started_ns)}
        {run.live && <small> for {duration(Date.now() / 1000 - run.started_ns / 1e9)}</small>}
      </td>
      <td class="right nowrap">
        {count(run.step)}
        {run.total_steps && run.total_steps !== run.step ? <small> of {short(run.total_steps)}</small> : null}
      </td>
      {names.map((name) => (
        <td key={name} class="right">
          {measure(finalOf(finals.value.get(run.run), name))}
        </td>
      ))}
      <td>
        <bdi title={run.file}>{lastPart(run.file)}</bdi>
        {seen && <Finals run={run.run} step={run.step} />}
      </td>
    </tr>
  );
}

/** Requests the last values of a run, and requests them again when the run has progressed or more of it has been
 * read. */
function Finals({ run, step }: { run: string; step: number | null }) {
  const { data, again } = useQuery('series', { run });
  const asked = useRef(step);
  useEffect(() => {
    if (asked.current !== step) again();
    asked.current = step;
  }, [step]);
  useEffect(() => {
    if (data) finals.value = new Map(finals.value).set(run, data);
  }, [data]);
  return null;
}
