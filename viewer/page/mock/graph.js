// SPDX-License-Identifier: Apache-2.0
import { Random } from './random.js';

/**
 * The edges of a training run: topic, from, to, messages and bytes per step, and the window. Edges without a rate are
 * used once, at the start.
 * @type {[string, string, string, number, number, number][]}
 */
const edges = [
  ['dataset', 'data_loader', 'accelerator_host', 0, 0, 64],
  ['/orders', 'strategy_manager', 'accelerator_host', 0.03, 400, 64],
  ['batches', 'data_loader', 'accelerator_host', 1, 65536, 4],
  ['parameters', 'optimizer', 'accelerator_host', 1, 120, 64],
  ['/run_state', 'checkpoint_writer', 'accelerator_host', 0, 0, 64],
  ['snapshot_taken', 'checkpoint_writer', 'accelerator_host', 0, 0, 64],
  ['/restored_states', 'checkpoint_writer', 'accelerator_host', 0, 0, 64],
  ['arena', 'accelerator_host', 'checkpoint_writer', 0, 0, 64],
  ['optimizer_state', 'optimizer', 'checkpoint_writer', 0, 0, 64],
  ['snapshot', 'accelerator_host', 'checkpoint_writer', 0, 0, 64],
  ['/states_taken', 'strategy_manager', 'checkpoint_writer', 0, 0, 64],
  ['/orders', 'strategy_manager', 'data_loader', 0.03, 400, 64],
  ['/metrics', 'accelerator_host', 'logger', 0.1, 300, 4096],
  ['/model', 'accelerator_host', 'logger', 0, 0, 4096],
  ['/checkpoints', 'checkpoint_writer', 'logger', 0, 0, 4096],
  ['/predictions', 'accelerator_host', 'logger', 0.002, 9000, 4096],
  ['arena', 'accelerator_host', 'optimizer', 0, 0, 64],
  ['gradients', 'accelerator_host', 'optimizer', 1, 96, 64],
  ['/run_state', 'checkpoint_writer', 'optimizer', 0, 0, 64],
  ['/order_done', 'accelerator_host', 'strategy_manager', 0.03, 240, 64],
  ['/rank_metrics', 'accelerator_host', 'strategy_manager', 0.1, 400, 64],
  ['/checkpoints', 'checkpoint_writer', 'strategy_manager', 0, 0, 64],
];

const once = ['strategy_manager', 'checkpoint_writer', 'logger'];
const perRank = ['data_loader', 'accelerator_host', 'optimizer'];

/** @type {Record<string, [number, [string, number][]]>} What the components spend their time with. */
const loads = {
  data_loader: [0.22, [['accelerator_host', 0.74]]],
  accelerator_host: [0.93, [['optimizer', 0.04], ['data_loader', 0.02]]],
  optimizer: [0.27, [['accelerator_host', 0.71]]],
  strategy_manager: [0.01, [['accelerator_host', 0.98]]],
  checkpoint_writer: [0.02, [['accelerator_host', 0.97]]],
  logger: [0.04, [['accelerator_host', 0.95]]],
};

/** @typedef {{ ranks: number, stepsPerSecond: number, timed: boolean, slowRank?: number, rename?: (name: string) => string }} GraphInfo */

/**
 * The graph of a run at one moment.
 * @param {GraphInfo} info @param {boolean} moving whether messages flow @param {number} tick
 */
export function graphOf(info, moving, tick) {
  const random = new Random(tick + 7);
  const rename = info.rename ?? ((name) => name);
  const many = info.ranks > 1;
  /** @param {string} part @param {number} rank */
  const full = (part, rank) => rename(many && perRank.includes(part) ? `rank${rank}/${part}` : part);
  const ranks = [...Array(info.ranks).keys()];
  const names = [...once.map((part) => ({ part, rank: null })), ...ranks.flatMap((rank) => perRank.map((part) => ({ part, rank })))];
  const components = names.map(({ part, rank }) => {
    const [busy, waits] = loads[part] ?? [0.1, []];
    const slow = info.slowRank !== undefined && rank !== null && rank !== info.slowRank && part === 'accelerator_host';
    const share = Math.min(0.99, Math.max(0, (slow ? busy - 0.31 : busy) + 0.02 * random.normal()));
    return {
      name: full(part, rank ?? 0),
      plugin: part,
      process: many ? (rank === null ? 'shared' : `rank${rank}`) : 'main',
      pid: 4100 + (rank ?? 90),
      host: '',
      rank: many ? rank : rank === null ? null : 0,
      state: 'active',
      restarts: part === 'logger' && many ? 1 : 0,
      cpu_percent: moving ? share * 110 + 2 : 0.3,
      memory_bytes: (part === 'accelerator_host' ? 2.1e9 : 9e7) * (1 + 0.02 * random.next()),
      busy: info.timed && moving ? share : info.timed ? 0 : null,
      waiting: info.timed && moving ? [...(slow ? [{ for: `rank${info.slowRank}/accelerator_host`, kind: 'rank', share: 0.31 }] : []), ...waits.map(([whom, waited]) => ({ for: full(whom, rank ?? 0), kind: part === 'data_loader' ? 'room' : 'message', share: slow ? waited * 0.8 : waited }))] : null,
    };
  });
  let number = 0;
  const list = edges.flatMap(([topic, from, to, perStep, bytes, window]) => {
    const wide = many && (perRank.includes(from) || perRank.includes(to));
    return (wide ? ranks : [0]).map((rank) => {
      const rate = moving ? perStep * info.stepsPerSecond * (1 + 0.02 * random.normal()) : 0;
      const absolute = topic.startsWith('/') ? topic : many ? `/rank${rank}/${topic}` : `/${topic}`;
      const full4 = topic === 'batches' && moving;
      return {
        number: number++,
        from: full(from, rank),
        to: full(to, rank),
        topic: rename(absolute),
        policy: to === 'logger' ? 'drop_oldest' : 'block',
        rate_hz: rate,
        bytes_per_s: rate * bytes,
        queued: full4 ? 3 + (random.next() < 0.5 ? 1 : 0) : 0,
        window,
        dropped: 0,
        blocked: full4 ? tick * 40 : 0,
      };
    });
  });
  const groups = new Map(components.map((one) => [one.process, one.pid]));
  const processes = [...groups].map(([name, pid]) => ({ name, pid, cpu_percent: moving ? 90 + 15 * random.next() : 0.5, memory_bytes: 2.4e9 + 1e8 * random.next() }));
  const slowest = info.slowRank !== undefined ? `rank${info.slowRank}/accelerator_host` : full('accelerator_host', 0);
  const bottlenecks = !info.timed ? null : moving ? [{ component: slowest, share: 0.93 }] : [];
  return { time_ns: Date.now() * 1e6, components, processes, edges: list, bottlenecks };
}
