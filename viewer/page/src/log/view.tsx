// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { clock, count } from '../lib/format';
import type { LogRecord } from '../protocol/types';
import { usePush, useSize } from '../state/hooks';
import { run } from '../state/place';
import { connection, era } from '../state/session';
import { Button, Empty, Failure, Foreign, Search } from '../ui/parts';
import { useKeys } from '../ui/keys';
import { LogBuffer } from './buffer';
import { levels, logFilter, passes, type LogFilter } from './filter';

const rowHeight = 22;
const pageSize = 500;

/** The view of the log. Only the visible lines of the list are in the document, so that it can be very long. */
export function Log() {
  const id = run.value?.run ?? null;
  const filter = useDebounced(logFilter.value, 200);
  const log = useLog(id, filter);
  const [frame, size] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const following = useSignal(true);
  const chosen = useSignal<number | null>(null);

  const toEnd = () => {
    following.value = true;
    if (frame.current) frame.current.scrollTop = frame.current.scrollHeight;
  };
  const total = log.records.length * rowHeight;
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    // If lines are added or removed above, the visible lines keep their position.
    if (following.value) element.scrollTop = element.scrollHeight;
    else if (log.shift) element.scrollTop += log.shift * rowHeight;
  }, [log.turn, size.height]);

  const move = (by: number) => {
    const at = log.records.findIndex((one) => one.number === chosen.value);
    const next = log.records[at < 0 ? log.records.length - 1 : Math.min(log.records.length - 1, Math.max(0, at + by))];
    if (!next) return;
    chosen.value = next.number;
    reveal(frame.current, log.records.indexOf(next));
  };
  useKeys('Log', [
    { key: '/', help: 'Search the text', run: () => document.getElementById('log-search')?.focus() },
    { key: 'e', help: 'Go to the end and follow it', run: toEnd },
    { key: 'ArrowDown', help: 'Next line', run: () => move(1) },
    { key: 'ArrowUp', help: 'Previous line', run: () => move(-1) },
    { key: 'Escape', help: 'Close the chosen line', run: () => (chosen.value = null) },
  ]);

  const begin = Math.max(0, Math.floor(top / rowHeight) - 10);
  const end = Math.min(log.records.length, Math.ceil((top + size.height) / rowHeight) + 10);
  const detail = log.records.find((one) => one.number === chosen.value);
  return (
    <section class="view log" aria-label="Log">
      <Toolbar following={following.value} toEnd={toEnd} total={log.complete ? log.records.length : log.total} />
      <div
        class="log-frame"
        ref={frame}
        role="log"
        aria-label="Lines"
        aria-live="off"
        tabIndex={0}
        onWheel={(event) => {
          // Following ends here and not only when the list has scrolled. Otherwise a new line could scroll the list
          // back to its end first.
          if (event.deltaY < 0) following.value = false;
        }}
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          setTop(scrollTop);
          following.value = scrollTop + clientHeight >= scrollHeight - rowHeight;
          if (scrollTop < 40 * rowHeight) log.older();
        }}
      >
        {log.error && log.records.length === 0 ? (
          <Failure error={log.error} again={log.again} />
        ) : log.records.length === 0 && !log.loading ? (
          <Empty title={isFiltered(filter) ? 'No line matches.' : 'The log is empty.'} />
        ) : (
          <div class="log-lines" style={{ height: `${total}px` }}>
            <div style={{ transform: `translateY(${begin * rowHeight}px)` }}>
              {log.records.slice(begin, end).map((record) => (
                <Line key={record.number} record={record} chosen={chosen.value === record.number} onChoose={() => (chosen.value = chosen.value === record.number ? null : record.number)} />
              ))}
            </div>
          </div>
        )}
      </div>
      {detail && <Detail record={detail} onClose={() => (chosen.value = null)} />}
    </section>
  );
}

function Toolbar({ following, toEnd, total }: { following: boolean; toEnd: () => void; total: number | null }) {
  const set = (part: Partial<LogFilter>) => (logFilter.value = { ...logFilter.value, ...part });
  return (
    <div class="toolbar">
      <h1>Log</h1>
      <label class="select">
        <span>From level</span>
        <select value={logFilter.value.level} onChange={(event) => set({ level: event.currentTarget.value })}>
          {levels.map((level) => (
            <option key={level}>{level}</option>
          ))}
        </select>
      </label>
      <Search label="Component" value={logFilter.value.component} onInput={(component) => set({ component })} />
      <Search id="log-search" label="Text" value={logFilter.value.text} onInput={(text) => set({ text })} />
      <span class="hint">{total === null ? '' : `${count(total)} lines`}</span>
      <span class="spacer" />
      <Button label={following ? 'Following the end' : 'Follow the end'} icon="down" pressed={following} onPress={toEnd} />
    </div>
  );
}

function Line({ record, chosen, onChoose }: { record: LogRecord; chosen: boolean; onChoose: () => void }) {
  const more = record.text.includes('\n');
  const time = clock(record.time_ns);
  return (
    <div class={`log-line level-${record.level}${chosen ? ' chosen' : ''}`} onClick={onChoose}>
      <time>
        {time.slice(0, 8)}
        <span class="ms">{time.slice(8)}</span>
      </time>
      <span class="level">{record.level}</span>
      <span class="log-component">
        <Foreign>{record.component}</Foreign>
      </span>
      <span class="log-text">
        <bdi>{more ? record.text.slice(0, record.text.indexOf('\n')) : record.text.slice(0, 1000)}</bdi>
        {more && <i> ⏎ …</i>}
      </span>
    </div>
  );
}

function Detail({ record, onClose }: { record: LogRecord; onClose: () => void }) {
  return (
    <aside class="log-detail" aria-label="The chosen line">
      <header>
        <span class={`level level-${record.level}`}>{record.level}</span>
        <strong>
          <bdi>{record.component}</bdi>
        </strong>
        <time>{clock(record.time_ns)}</time>
        <span class="hint">number {count(record.number)}</span>
        <span class="spacer" />
        <Button label="Close" icon="close" iconOnly quiet onPress={onClose} />
      </header>
      <pre tabIndex={0}>{record.text}</pre>
    </aside>
  );
}

interface LogState {
  records: readonly LogRecord[];
  total: number | null;
  error: string | null;
  loading: boolean;
  /** `turn` counts the changes. `shift` is the number of lines that the newest change added at the front, or removed
   * if it is negative. */
  turn: number;
  shift: number;
}

const nothing: LogState = { records: [], total: null, error: null, loading: true, turn: 0, shift: 0 };

/** A hook that holds the lines that pass a filter: the newest lines, older lines on request, and new lines as they
 * arrive. */
function useLog(id: string | null, filter: LogFilter) {
  const buffer = useRef(new LogBuffer());
  const [state, setState] = useState(nothing);
  const busy = useRef(false);
  const complete = useRef(false);
  const [turn, again] = useState(0);
  const key = JSON.stringify([id, filter]);
  const current = useRef(key);
  const connected = era.value;

  const changed = (shift: number, part: Partial<LogState> = {}) =>
    setState((old) => ({ ...old, records: buffer.current.records, turn: old.turn + 1, shift, loading: false, error: null, ...part }));
  const fetch = (before: number | null) => {
    if (id === null || busy.current) return;
    busy.current = true;
    connection
      .ask('log', { run: id, before, limit: pageSize, ...filter })
      .then(({ records, total }) => {
        if (current.current !== key) return;
        complete.current ||= records.length < pageSize;
        if (before === null) {
          buffer.current.append(records);
          changed(0, { total });
        } else changed(buffer.current.prepend(records), { total });
      })
      .catch((error: Error) => current.current === key && setState((old) => ({ ...old, loading: false, error: error.message })))
      .finally(() => {
        if (current.current === key) busy.current = false;
      });
  };
  useEffect(() => {
    current.current = key;
    buffer.current = new LogBuffer();
    busy.current = complete.current = false;
    setState((old) => ({ ...nothing, turn: old.turn + 1 }));
    if (connected > 0) fetch(null);
  }, [key, connected, turn]);
  usePush(id, 'log', ({ records }) => {
    const fresh = records.filter((one) => passes(one, filter));
    if (fresh.length === 0) return;
    const dropped = buffer.current.append(fresh);
    if (dropped) complete.current = false;
    setState((old) => ({ ...old, records: buffer.current.records, turn: old.turn + 1, shift: -dropped, total: (old.total ?? 0) + fresh.length }));
  });
  return {
    ...state,
    complete: complete.current,
    older: () => {
      const first = buffer.current.records[0];
      if (first && !complete.current) fetch(first.number);
    },
    again: () => again((old) => old + 1),
  };
}

const isFiltered = (filter: LogFilter): boolean => filter.component !== '' || filter.text !== '' || filter.level !== 'trace';

function reveal(frame: HTMLElement | null, index: number): void {
  if (!frame) return;
  const top = index * rowHeight;
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (top + rowHeight > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + rowHeight - frame.clientHeight;
}

/** A hook that returns the value after it has not changed for `ms` milliseconds. */
function useDebounced<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
