// SPDX-License-Identifier: Apache-2.0
// Functions about which component waits for which.
import type { Component, Waiting } from '../protocol/types';

export interface Load {
  busy: number | null;
  /** The largest share first. */
  waiting: Waiting[];
}

/** Shares that are smaller than this are not mentioned. */
export const leastShare = 0.01;

const withoutRank = (name: string): string => name.replace(/^rank\d+\//, '');

/** Returns the mean shares of the time in which components are busy or wait. `busy` is null if none of them measures
 * it. */
export function loadOf(members: Component[]): Load {
  const known = members.filter((one) => one.busy !== null);
  if (known.length === 0) return { busy: null, waiting: [] };
  const waiting = new Map<string, Waiting>();
  for (const { waiting: list } of known) {
    for (const wait of list ?? []) {
      const whom = members.length > 1 ? withoutRank(wait.for) : wait.for;
      const key = JSON.stringify([wait.kind, whom]);
      const share = (waiting.get(key)?.share ?? 0) + wait.share / known.length;
      waiting.set(key, { for: whom, kind: wait.kind, share });
    }
  }
  return {
    busy: known.reduce((total, one) => total + one.busy!, 0) / known.length,
    waiting: [...waiting.values()].filter((one) => one.share >= leastShare).sort((a, b) => b.share - a.share),
  };
}

/** Returns the cause of a wait, in words that can follow "waits for". */
export function causeOf({ for: whom, kind }: Waiting): string {
  const words: Record<string, string> = { room: `room at ${whom}`, ranks: 'other ranks', thread: 'its turn on the thread', device: 'the device', others: 'other causes' };
  return words[kind] ?? whom;
}

/** Returns the edge on which a component waits, for messages or for room for its own messages. Returns null for
 * other causes. */
export function edgeOf(component: string, { for: whom, kind }: Waiting): { from: string; to: string } | null {
  if (kind === 'message') return { from: whom, to: component };
  return kind === 'room' ? { from: component, to: whom } : null;
}
