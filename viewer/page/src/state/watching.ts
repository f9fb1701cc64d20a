// SPDX-License-Identifier: Apache-2.0
import type { Topic } from '../protocol/types';
import { connection } from './session';

// How many parts of the page watch each topic of each run.
const watchers = new Map<string, Map<Topic, number>>();
const stale = new Set<string>();

/** Asks the server to push a topic of a run until the returned function is called. */
export function watch(run: string, topic: Topic): () => void {
  add(run, topic, 1);
  return () => add(run, topic, -1);
}

/** Tells the server, over a new connection, everything that is watched. */
export function restoreWatches(): void {
  for (const run of watchers.keys()) tell(run);
}

function add(run: string, topic: Topic, by: number): void {
  const topics = watchers.get(run) ?? new Map<Topic, number>();
  watchers.set(run, topics);
  const before = topics.get(topic) ?? 0;
  topics.set(topic, before + by);
  if (before > 0 === before + by > 0) return;
  // The message is sent in a microtask. So if one view replaces another, which changes two watches, only one message is
  // sent.
  if (stale.size === 0) queueMicrotask(flush);
  stale.add(run);
}

function flush(): void {
  const list = [...stale];
  stale.clear();
  for (const run of list) tell(run);
}

function tell(run: string): void {
  const topics = watchers.get(run);
  if (!topics || connection.link.peek().kind !== 'open') return;
  const what = [...topics].filter(([, number]) => number > 0).map(([topic]) => topic);
  if (what.length === 0) watchers.delete(run);
  // Fails if the run has been removed. The views of the run report this themselves.
  connection.ask('watch', { run, what }).catch(() => {});
}
