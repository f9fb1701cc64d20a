// SPDX-License-Identifier: Apache-2.0
import { computed, signal } from '@preact/signals';
import { Connection, type Socket } from '../protocol/connection';
import type { Hello, Run } from '../protocol/types';
import { restoreWatches } from './watching';
import { settle } from './place';

/** The connection of this page. */
export const connection = new Connection(openSocket, isRefused);

/** The server's answer to `hello`, which describes the server; null before it has arrived. */
export const hello = signal<Hello | null>(null);

/** All runs that the server knows, newest first; null until the server has listed them. */
export const runs = signal<Run[] | null>(null);

/** The number of connections made so far. When it increases, all questions must be asked again. */
export const era = signal(0);

/** When the last message from the server arrived, in milliseconds like Date.now(). */
export const lastHeard = signal(0);

/** The reason why this page may not change a run, or null if it may. */
export const whyNoControl = computed(() =>
  connection.link.value.kind !== 'open'
    ? 'There is no connection to the server.'
    : hello.value?.role === 'watch'
      ? 'This page may only watch: it was opened with the token for watching.'
      : null,
);

const protocolVersion = 1;

/** A text that states that the page and the server have different versions of the protocol, or null. */
export const mismatch = computed(() =>
  hello.value && hello.value.version !== protocolVersion
    ? `The server speaks version ${hello.value.version} of the viewer's protocol, and this page version ${protocolVersion}. Reload the page.`
    : null,
);

/** Connects, and keeps what is known about the server and its runs up to date. */
export function startSession(): void {
  connection.onOpen = () => {
    void greet();
  };
  connection.on('runs', () => void listRuns());
  connection.on('state', (push) => {
    lastHeard.value = Date.now();
    runs.value = runs.value?.map((run) => (run.run === push.run ? changed(run, push) : run)) ?? null;
  });
  connection.connect();
}

async function greet(): Promise<void> {
  try {
    hello.value = await connection.ask('hello', {});
    await listRuns();
    restoreWatches();
    era.value++;
  } catch {
    // The connection was lost. `hello` is sent again over the next one.
  }
}

/** Asks for the list of runs again. */
export async function listRuns(): Promise<void> {
  const list = await connection.ask('runs', {}).catch(() => null);
  if (!list) return;
  lastHeard.value = Date.now();
  runs.value = [...list].sort((a, b) => Number(b.live) - Number(a.live) || b.started_ns - a.started_ns);
  settle(runs.value);
}

type Push = { state: Run['state']; message: string; step: number | null; total_steps: number | null };

function changed(run: Run, { state, message, step, total_steps }: Push): Run {
  const over = !(state === 'starting' || state === 'running' || state === 'paused');
  return { ...run, state, message, step: step ?? run.step, total_steps: total_steps ?? run.total_steps, live: run.live && !over };
}

function openSocket(): Socket {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  return new WebSocket(`${scheme}://${location.host}/ws`) as unknown as Socket;
}

/** Finds out with a separate request whether the server refuses this page, because a browser does not report why a
 * WebSocket failed. */
async function isRefused(): Promise<boolean> {
  try {
    return (await fetch('./', { method: 'HEAD', cache: 'no-store' })).status === 403;
  } catch {
    return false;
  }
}
