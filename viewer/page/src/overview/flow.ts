// SPDX-License-Identifier: Apache-2.0
import { useMemo, useRef } from 'preact/hooks';
import type { Edge, Graph } from '../protocol/types';
import type { Model } from './model';

interface Record {
  /** The number of graphs in which the edge carried messages. */
  active: number;
  /** The number of consecutive graphs in which the edge carried no messages although other edges did. */
  idle: number;
}

// An edge that has carried messages in this many graphs is not used only at the start.
const lasting = 3;
const patience = 5;

/**
 * Distinguishes edges that carry messages continually from edges that are used only once, for example at the start. The
 * result should rarely change, because the boxes move when it does. So an edge that has carried messages a few times
 * counts as continual from then on, and nothing changes while the run is idle.
 */
export class Flow {
  /** The keys (keyOf()) of the edges that carry messages continually. When the content changes, this becomes a new
   * set. */
  edges: ReadonlySet<string> = new Set();
  private readonly records = new Map<string, Record>();
  private first = true;

  /** Evaluates the edges of a new graph. */
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
    // An edge that carries messages in the first graph counts immediately, so that a run that has been running for a
    // long time is drawn correctly.
    return active >= lasting || (active > 0 && (this.first || this.edges.has(key)) && idle < patience);
  }
}

export const keyOf = ({ from, to, topic }: Edge): string => JSON.stringify([from, to, topic]);

const moves = (edge: Edge): boolean => (edge.rate_hz ?? 0) > 0;

/** A hook that returns the ids of the links that carry messages continually, as far as the page has observed. */
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
