// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Component, Edge, Graph } from '../protocol/types';
import { layoutOf } from './layout';
import { modelOf, topicsOf, worstOf } from './model';
import { backward } from './order';
import { loadOf } from './waits';

const component = (name: string, rank: number | null, more: Partial<Component> = {}): Component => ({
  name, plugin: name.split('/').at(-1)!, process: 'main', pid: 1, host: '', rank, state: 'active', restarts: 0, cpu_percent: 1, memory_bytes: 1, busy: null, waiting: null, ...more,
});
const edge = (from: string, to: string, topic: string, rate = 1): Edge => ({ number: 0, from, to, topic, policy: 'block', rate_hz: rate, bytes_per_s: 10, queued: 1, window: 4, dropped: 0, blocked: 0 });

function graph(ranks: number): Graph {
  const names = [...Array(ranks).keys()].map((rank) => (part: string) => (ranks > 1 ? `rank${rank}/${part}` : part));
  return {
    time_ns: 0,
    bottlenecks: [{ component: ranks > 1 ? 'rank1/host' : 'host', share: 0.9 }],
    processes: [],
    components: [component('manager', ranks > 1 ? 0 : null), ...names.flatMap((of, rank) => ['loader', 'host', 'optimizer'].map((part) => component(of(part), ranks > 1 ? rank : 0)))],
    edges: names.flatMap((of, rank) => [
      edge('manager', of('host'), '/orders'),
      edge('manager', of('loader'), '/orders'),
      edge(of('host'), 'manager', '/order_done'),
      edge(of('loader'), of('host'), ranks > 1 ? `/rank${rank}/batches` : '/batches'),
      edge(of('host'), of('optimizer'), '/gradients'),
      edge(of('optimizer'), of('host'), '/parameters'),
    ]),
  };
}

const stacked = { ranks: 'stacked' as const, open: new Set<number>() };
const apart = (...open: number[]) => ({ ranks: 'apart' as const, open: new Set(open) });

test('A run with one rank shows each component once.', () => {
  const model = modelOf(graph(1), stacked);
  expect(model.nodes.map((node) => node.id)).toEqual(['manager', 'loader', 'host', 'optimizer']);
  expect(worstOf(model)?.id).toBe('host');
  expect(model.links).toHaveLength(6);
});

test('Stacked ranks show each kind of component once, with all its members and the sums of its edges.', () => {
  const model = modelOf(graph(8), stacked);
  expect(model.nodes.map((node) => [node.title, node.members.length])).toEqual([['manager', 1], ['loader', 8], ['host', 8], ['optimizer', 8]]);
  expect(worstOf(model)?.bottlenecks[0]?.component).toBe('rank1/host');
  const batches = model.links.find((link) => link.from === '*/loader')!;
  expect(batches.rate).toBe(8);
  expect(topicsOf(batches).map((topic) => topic.topic)).toEqual(['/batches']);
});

test('A folded rank is one box, and its inner edges are not drawn.', () => {
  const model = modelOf(graph(3), apart(1));
  expect(model.nodes.map((node) => node.id)).toEqual(['manager', 'rank:0', 'rank1/loader', 'rank1/host', 'rank1/optimizer', 'rank:2']);
  expect(model.links.filter((link) => link.from === 'rank:0')).toHaveLength(1);
  expect(model.nodes.filter((node) => node.frame === 1)).toHaveLength(3);
});

test('An edge that names no component is left out.', () => {
  const odd = graph(1);
  odd.edges.push(edge('host', 'nobody', '/x'));
  expect(modelOf(odd, stacked).links).toHaveLength(6);
});

test('Shares are means over the members, and waiting for any rank counts as one.', () => {
  const members = [component('rank0/host', 0, { busy: 0.2, waiting: [{ for: 'rank0/loader', kind: 'message', share: 0.8 }] }), component('rank1/host', 1, { busy: 0.4, waiting: [{ for: 'rank1/loader', kind: 'message', share: 0.4 }] })];
  const load = loadOf(members);
  expect(load.busy).toBeCloseTo(0.3);
  expect(load.waiting).toEqual([{ for: 'loader', kind: 'message', share: expect.closeTo(0.6) as number }]);
  expect(loadOf([component('a', null)])).toEqual({ busy: null, waiting: [] });
});

test('A link says who waits on it: the receiver for messages, or the sender for room.', () => {
  const waiting = graph(1);
  const set = (name: string, of: Component['waiting']) => (waiting.components.find((one) => one.name === name)!.waiting = of);
  set('optimizer', [{ for: 'host', kind: 'message', share: 0.7 }]);
  set('loader', [{ for: 'host', kind: 'room', share: 0.6 }]);
  set('manager', [{ for: 'thread', kind: 'thread', share: 0.5 }]);
  const { links } = modelOf(waiting, stacked);
  const wait = (from: string, to: string) => links.find((link) => link.from === from && link.to === to)!.wait;
  expect(wait('host', 'optimizer')).toEqual({ waits: 'optimizer', share: 0.7, holdsUp: true });
  expect(wait('loader', 'host')).toEqual({ waits: 'loader', share: 0.6, holdsUp: true });
  expect(wait('optimizer', 'host')).toBeNull();
});

test('Waiting of stacked ranks is their mean.', () => {
  const waiting = graph(2);
  waiting.components.find((one) => one.name === 'rank0/host')!.waiting = [{ for: 'rank0/loader', kind: 'message', share: 0.8 }];
  waiting.components.find((one) => one.name === 'rank1/host')!.waiting = [{ for: 'rank1/loader', kind: 'message', share: 0.4 }];
  const link = modelOf(waiting, stacked).links.find((one) => one.from === '*/loader')!;
  expect(link.wait).toEqual({ waits: '*/host', share: expect.closeTo(0.6) as number, holdsUp: false });
});

test('Circles are broken at the same place in every rank.', () => {
  const model = modelOf(graph(4), apart(0, 1, 2, 3));
  const back = [...backward(model, new Set(model.links.map((link) => link.id)))].map((id) => (JSON.parse(id) as string[]).map((name) => name.replace(/rank\d+\//, '')).join(' '));
  expect([...new Set(back)].sort()).toEqual(['host manager', 'optimizer host']);
  expect(back).toHaveLength(8);
});

test('Boxes do not overlap, and every link ends at its boxes.', () => {
  const model = modelOf(graph(8), apart(0, 5));
  const layout = layoutOf(model, 100, new Set(model.links.map((link) => link.id)), { width: 1500, height: 900 });
  const boxes = [...layout.boxes.values()];
  boxes.forEach((a, i) =>
    boxes.slice(i + 1).forEach((b) => {
      expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true);
    }),
  );
  for (const link of model.links) {
    const numbers = layout.routes.get(link.id)!.path.match(/-?[\d.]+/g)!.map(Number);
    const touches = (id: string, x: number, y: number): boolean => {
      const box = layout.boxes.get(id)!;
      return x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y - 1 && y <= box.y + box.height + 1;
    };
    expect(touches(link.from, numbers[0]!, numbers[1]!)).toBe(true);
    expect(touches(link.to, numbers.at(-2)!, numbers.at(-1)!)).toBe(true);
  }
});
