// SPDX-License-Identifier: Apache-2.0

/** @typedef {import('./graph.js').GraphInfo} GraphInfo */

/**
 * What the components of a made-up run did for a time: steps of equal length, on all ranks.
 * @param {GraphInfo} info @param {number} ms
 */
export function timelineOf(info, ms) {
  const rename = info.rename ?? ((/** @type {string} */ name) => name);
  /** @param {string} part @param {number} rank */
  const full = (part, rank) => rename(info.ranks > 1 ? `rank${rank}/${part}` : part);
  const length = ms * 1e6;
  const step = 1e9 / info.stepsPerSecond;
  const made = new Made();
  for (let rank = 0; rank < info.ranks; rank++) {
    const [loader, host, optimizer] = ['data_loader', 'accelerator_host', 'optimizer'].map((part) => full(part, rank));
    for (let number = 0; number < Math.min(Math.floor(length / step), 400); number++) {
      const at = number * step;
      const because = { batch: 1000 + number, rank, step: 500 + number };
      made.add(loader, 1 + (number % 2), 'read', 'read', '', at, at + step * 0.6, because);
      made.add(loader, 0, 'handler', 'a task', '', at + step * 0.62, at + step * 0.64, because);
      made.add(host, 0, 'hop', `Batch from ${loader}`, loader, at + step * 0.63, at + step * 0.7, because);
      made.add(host, 0, 'handler', 'handles Batch', loader, at + step * 0.7, at + step * 1.3, because);
      made.add(host, 0, 'forward', 'forward', '', at + step * 0.72, at + step * 0.9, because);
      made.add(host, 0, 'backward', 'backward', '', at + step * 0.9, at + step * 1.25, because);
      if (info.ranks > 1) made.add(host, 0, 'collective', 'reduce', '', at + step * 1.1, at + step * 1.2, because);
      made.add(optimizer, 0, 'hop', `Gradients from ${host}`, host, at + step * 1.29, at + step * 1.32, because);
      made.add(optimizer, 0, 'update', 'update', '', at + step * 1.33, at + step * 1.5, because);
      made.add(host, -1, 'step', 'step', '', at + step * 0.5, at + step * 1.5, because);
    }
  }
  return { length_ns: Math.round(length), lost: info.ranks > 4 ? 17 : 0, rows: made.rows, texts: made.texts, spans: made.spans };
}

/** The answer while it is being made. */
class Made {
  constructor() {
    /** @type {{ process: string, component: string, thread: string, own_thread: number, steps: boolean }[]} */
    this.rows = [];
    this.texts = [''];
    /** @type {Record<string, (number | string | null)[]>} */
    this.spans = { row: [], kind: [], text: [], peer: [], begin_ns: [], ns: [], step: [], batch: [], rank: [] };
  }

  /** @param {string | undefined} component @param {number} thread -1: the steps @param {string} kind @param {string} text @param {string | undefined} peer @param {number} begin @param {number} end @param {{ batch: number, rank: number, step: number }} because */
  add(component, thread, kind, text, peer, begin, end, because) {
    const { spans } = this;
    spans.row?.push(this.row(component ?? '', thread));
    spans.kind?.push(kind);
    spans.text?.push(this.text(text));
    spans.peer?.push(this.text(peer ?? ''));
    spans.begin_ns?.push(Math.round(begin));
    spans.ns?.push(Math.round(end - begin));
    spans.step?.push(because.step);
    spans.batch?.push(because.batch);
    spans.rank?.push(because.rank);
  }

  /** @param {string} component @param {number} thread */
  row(component, thread) {
    const row = { process: 'main', component, thread: 'main', own_thread: Math.max(thread, 0), steps: thread < 0 };
    const known = this.rows.findIndex((one) => one.component === component && one.own_thread === row.own_thread && one.steps === row.steps);
    return known >= 0 ? known : this.rows.push(row) - 1;
  }

  /** @param {string} text */
  text(text) {
    const known = this.texts.indexOf(text);
    return known >= 0 ? known : this.texts.push(text) - 1;
  }
}
