// SPDX-License-Identifier: Apache-2.0
import { useMemo, useRef } from 'preact/hooks';
import type { Edge, Graph } from '../protocol/types';
import type { Model } from './model';

interface Record {
  /** In how many graphs messages passed. */
  active: number;
  /** How many graphs in a row none passed, although some passed elsewhere. */
  idle: number;
}

// What passes messages so often is not a matter of the start only.
const lasting = 3;
const patience = 5;

/**
 * Tells the edges that carry messages all the time from those that are used once, such as at the start. The answer
 * changes seldom, because the boxes move when it does: an edge that has carried messages a few times belongs to the
 * first kind for good, and everything rests while the run rests.
 */
export class Flow {
  /** The edges that carry messages, by keyOf(). It is another set whenever its content changes. */
  edges: ReadonlySet<string> = new Set();
  private readonly records = new Map<string, Record>();
  private first = true;

  /** Takes note of a new graph. */
  see(edges: Edge[]): void {
    const moving = edges.some(moves);
    for (const edge of edges) {
      const record = this.records.get(keyOf(edge)) ?? { active: 0, idle: 0 };
      this.records.set(keyOf(edge), record);
      if (moves(edge)) Object.assign(record, { active: record.active + 1, idle: 0 });
      else if (moving) record.idle++;
    }
    const next = new Set(edges.map(keyOf).filter((key) => this.flows(key)));
    if (next.size !== this.edges.size || [...next].some((key) => !this.edges.has(key))) this.edges = next;
    if (moving) this.first = false;
  }

  private flows(key: string): boolean {
    const { active, idle } = this.records.get(key)!;
    // What moves in the first graph is believed at once, so that a run that has been going for long looks right.
    return active >= lasting || (active > 0 && (this.first || this.edges.has(key)) && idle < patience);
  }
}

export const keyOf = ({ from, to, topic }: Edge): string => JSON.stringify([from, to, topic]);

const moves = (edge: Edge): boolean => (edge.rate_hz ?? 0) > 0;

/** The ids of the links that carry messages, as far as the page has seen. */
export function useFlowing(run: string | null, graph: Graph | null, model: Model | null): ReadonlySet<string> {
  const known = useRef(new Map<string | null, Flow>());
  const edges = useMemo(() => {
    const flow = known.current.get(run) ?? new Flow();
    known.current.set(run, flow);
    if (graph) flow.see(graph.edges);
    return flow.edges;
  }, [run, graph]);
  return useMemo(() => {
    const links = model?.links.filter((link) => link.edges.some((edge) => edges.has(keyOf(edge)))) ?? [];
    return new Set(links.map((link) => link.id));
  }, [edges, model]);
}
