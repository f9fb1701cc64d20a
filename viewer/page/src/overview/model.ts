// SPDX-License-Identifier: Apache-2.0
import type { Component, Edge, Graph } from '../protocol/types';

/** How ranks are drawn: each component once for all ranks, or each rank by itself. */
export type Ranks = 'stacked' | 'apart';

/** What is drawn as one box: a component, the same component of all ranks, or a folded rank. */
export interface Node {
  id: string;
  title: string;
  members: Component[];
  kind: 'component' | 'stack' | 'rank';
  /** The rank in whose frame the box is, or null. */
  frame: number | null;
  /** The name of the member for which the others wait, or null. */
  bottleneck: string | null;
}

/** All edges from one box to another, which are drawn as one line. */
export interface Link {
  id: string;
  from: string;
  to: string;
  edges: Edge[];
  rate: number | null;
  bytes: number | null;
  /** The fullest window of the edges, from 0 to 1. */
  fill: number | null;
  dropped: number;
}

export interface Model {
  nodes: Node[];
  links: Link[];
  /** The ranks of the run, in order. */
  ranks: number[];
}

export interface Fold {
  ranks: Ranks;
  /** The ranks that are unfolded if the ranks are apart. */
  open: ReadonlySet<number>;
}

/** The rank of a component; null for a component that exists once, whose name has no rank. */
export const rankOf = ({ name, rank }: Component): number | null => (rank !== null && name.startsWith(`rank${rank}/`) ? rank : null);

/** The name of a component without its rank: "rank3/optimizer" -> "optimizer". */
export const shortName = (component: Component): string =>
  rankOf(component) === null ? component.name : component.name.slice(`rank${component.rank}/`.length);

/** Returns what is drawn of a graph. */
export function modelOf(graph: Graph, fold: Fold): Model {
  const ranks = [...new Set(graph.components.flatMap((one) => rankOf(one) ?? []))].sort((a, b) => a - b);
  const nodes = new Map<string, Node>();
  const boxOf = new Map<string, string>();
  for (const component of graph.components) {
    const node = nodeFor(component, ranks.length, fold);
    const known = nodes.get(node.id) ?? node;
    known.members.push(component);
    if (isBottleneck(graph, component)) known.bottleneck ??= component.name;
    nodes.set(node.id, known);
    boxOf.set(component.name, node.id);
  }
  return { nodes: [...nodes.values()], links: linksOf(graph, boxOf), ranks };
}

/** A server that looks at ranks together names the component without its rank. */
const isBottleneck = (graph: Graph, component: Component): boolean =>
  graph.bottleneck !== null && (graph.bottleneck === component.name || graph.bottleneck === shortName(component));

function nodeFor(component: Component, ranks: number, fold: Fold): Node {
  const node = { members: [], bottleneck: null };
  const { name } = component;
  const rank = rankOf(component);
  if (rank === null || ranks < 2) return { ...node, id: name, title: shortName(component), kind: 'component', frame: null };
  if (fold.ranks === 'stacked') {
    return { ...node, id: `*/${shortName(component)}`, title: shortName(component), kind: 'stack', frame: null };
  }
  if (fold.open.has(rank)) return { ...node, id: name, title: shortName(component), kind: 'component', frame: rank };
  return { ...node, id: `rank:${rank}`, title: `rank ${rank}`, kind: 'rank', frame: null };
}

function linksOf(graph: Graph, boxOf: Map<string, string>): Link[] {
  const links = new Map<string, Link>();
  for (const edge of graph.edges) {
    const from = boxOf.get(edge.from);
    const to = boxOf.get(edge.to);
    if (from === undefined || to === undefined || from === to) continue;
    const id = JSON.stringify([from, to]);
    const link = links.get(id) ?? { id, from, to, edges: [], rate: null, bytes: null, fill: null, dropped: 0 };
    link.edges.push(edge);
    link.rate = sum(link.rate, edge.rate_hz);
    link.bytes = sum(link.bytes, edge.bytes_per_s);
    link.fill = largest(link.fill, fillOf(edge));
    link.dropped += edge.dropped ?? 0;
    links.set(id, link);
  }
  return [...links.values()];
}

/** How full the window of an edge is, from 0 to 1. */
export function fillOf(edge: Edge): number | null {
  return edge.queued === null || !edge.window ? null : Math.min(1, edge.queued / edge.window);
}

/** The topics of a link, each once and without their ranks, the one with the most messages first. */
export function topicsOf(link: Link): { topic: string; edges: Edge[]; rate: number | null; bytes: number | null }[] {
  const topics = new Map<string, { topic: string; edges: Edge[]; rate: number | null; bytes: number | null }>();
  for (const edge of link.edges) {
    const name = edge.topic.replace(/^\/rank\d+\//, '/');
    const topic = topics.get(name) ?? { topic: name, edges: [], rate: null, bytes: null };
    topic.edges.push(edge);
    topic.rate = sum(topic.rate, edge.rate_hz);
    topic.bytes = sum(topic.bytes, edge.bytes_per_s);
    topics.set(name, topic);
  }
  return [...topics.values()].sort((a, b) => (b.rate ?? -1) - (a.rate ?? -1));
}

export interface Load {
  busy: number | null;
  waiting: { for: string; share: number }[];
}

/** The mean of what components spend their time with, or null for what none of them knows. */
export function loadOf(members: Component[]): Load {
  const known = members.filter((one) => one.busy !== null);
  if (known.length === 0) return { busy: null, waiting: [] };
  const waiting = new Map<string, number>();
  for (const { waiting: list } of known) {
    for (const { for: whom, share } of list ?? []) {
      const name = members.length > 1 ? whom.replace(/^rank\d+\//, '') : whom;
      waiting.set(name, (waiting.get(name) ?? 0) + share / known.length);
    }
  }
  return {
    busy: known.reduce((total, one) => total + one.busy!, 0) / known.length,
    waiting: [...waiting].map(([whom, share]) => ({ for: whom, share })).sort((a, b) => b.share - a.share),
  };
}

/** Adds numbers of which any may be unknown. */
export function sum(left: number | null, right: number | null): number | null {
  return left === null ? right : right === null ? left : left + right;
}

const largest = (left: number | null, right: number | null): number | null =>
  left === null ? right : right === null ? left : Math.max(left, right);

/** The state that describes several components: the one that needs the most attention. */
export function stateOf(members: Component[]): string {
  const order = ['error', 'unconfigured', 'finalized', 'inactive'];
  const states = new Set(members.map((one) => one.state));
  return order.find((state) => states.has(state)) ?? members[0]?.state ?? '';
}
