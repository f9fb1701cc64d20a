// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { Flow } from './flow';
import type { Edge } from '../protocol/types';

const edge = (topic: string, rate_hz: number | null): Edge => ({ number: 0, from: 'a', to: 'b', topic, policy: 'block', rate_hz, bytes_per_s: null, queued: null, window: null, dropped: null, blocked: null });
const see = (flow: Flow, rates: Record<string, number | null>): string => {
  flow.see(Object.entries(rates).map(([topic, rate]) => edge(topic, rate)));
  return [...flow.edges].map((key) => (JSON.parse(key) as string[])[2]).sort().join(' ');
};

test('What moves in the first graph flows, and what was used only once goes away again.', () => {
  const flow = new Flow();
  expect(see(flow, { batches: 9, arena: 1, model: 0 })).toBe('arena batches');
  for (let i = 0; i < 4; i++) expect(see(flow, { batches: 9, arena: 0, model: 0 })).toBe('arena batches');
  expect(see(flow, { batches: 9, arena: 0, model: 0 })).toBe('batches');
});

test('What moves later flows when it has moved a few times, and then for good.', () => {
  const flow = new Flow();
  see(flow, { batches: 9, metrics: 0 });
  expect(see(flow, { batches: 9, metrics: 1 })).toBe('batches');
  see(flow, { batches: 9, metrics: 1 });
  expect(see(flow, { batches: 9, metrics: 1 })).toBe('batches metrics');
  for (let i = 0; i < 50; i++) see(flow, { batches: 9, metrics: 0 });
  expect(see(flow, { batches: 9, metrics: null })).toBe('batches metrics');
});

test('Nothing goes away while the run rests, and the set stays the same object.', () => {
  const flow = new Flow();
  see(flow, { batches: 9, orders: 1 });
  const before = flow.edges;
  for (let i = 0; i < 50; i++) see(flow, { batches: 0, orders: 0 });
  expect(flow.edges).toBe(before);
});
