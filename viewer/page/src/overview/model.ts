// SPDX-License-Identifier: Apache-2.0
import type { Bottleneck, Component, Edge, Graph } from '../protocol/types';
import { edgeOf } from './waits';

/** How ranks are drawn: each component once for all ranks ("stacked"), or each rank separately ("apart"). */
export type Ranks = 'stacked' | 'apart';

/** A box of the drawing: a component, the same component of all ranks, or a folded rank. */
export interface Node {
  id: string;
  title: string;
  members: Component[];
  kind: 'component' | 'stack' | 'rank';
  /** The rank in whose frame the box is drawn, or null. */
  frame: number | null;
  /** The components of this box that hold up the run, the most important first. */
  bottlenecks: Bottleneck[];
}

/** All edges from one box to another, which are drawn as one line. */
export interface Link {
  id: string;
  from: string;
  to: string;
  edges: Edge[];
  rate: number | null;
  bytes: number | null;
  /** The fill level, from 0 to 1, of the edge whose window (the messages that may be in flight) is fullest. */
  fill: number | null;
  dropped: number;
  /** The longest waiting for messages of this link or for room on it; null if no component waits. */
  wait: LinkWait | null;
}

export interface LinkWait {
  /** The id of the box that waits. */
  waits: string;
  share: number;
  /** True if the box waits for a component that holds up the run. */
  holdsUp: boolean;
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

/** Returns the rank of a component, or null for a component that exists once, whose name contains no rank. */
export const rankOf = ({ name, rank }: Component): number | null => (rank !== null && name.startsWith(`rank${rank}/`) ? rank : null);

/** The name of a component without its rank: "rank3/optimizer" -> "optimizer". */
export const shortName = (component: Component): string =>
  rankOf(component) === null ? component.name : component.name.slice(`rank${component.rank}/`.length);

/** Returns the boxes and lines with which a graph is drawn. */
export function modelOf(graph: Graph, fold: Fold): Model {
  const ranks = [...new Set(graph.components.flatMap((one) => rankOf(one) ?? []))].sort((a, b) => a - b);
  const nodes = new Map<string, Node>();
  const boxOf = new Map<string, string>();
  for (const component of graph.components) {
    const node = nodeFor(component, ranks.length, fold);
    const known = nodes.get(node.id) ?? node;
    known.members.push(component);
    known.bottlenecks.push(...(graph.bottlenecks?.filter((one) => one.component === component.name) ?? []));
    nodes.set(node.id, known);
    boxOf.set(component.name, node.id);
  }
  for (const node of nodes.values()) node.bottlenecks.sort((a, b) => b.share - a.share);
  const links = linksOf(graph, boxOf);
  addWaits(links, nodes, boxOf);
  return { nodes: [...nodes.values()], links: [...links.values()], ranks };
}

function nodeFor(component: Component, ranks: number, fold: Fold): Node {
  const node = { members: [], bottlenecks: [] };
  const { name } = component;
  const rank = rankOf(component);
  if (rank === null || ranks < 2) return { ...node, id: name, title: shortName(component), kind: 'component', frame: null };
  if (fold.ranks === 'stacked') {
    return { ...node, id: `*/${shortName(component)}`, title: shortName(component), kind: 'stack', frame: null };
  }
  if (fold.open.has(rank)) return { ...node, id: name, title: shortName(component), kind: 'component', frame: rank };
  return { ...node, id: `rank:${rank}`, title: `rank ${rank}`, kind: 'rank', frame: null };
}

function linksOf(graph: Graph, boxOf: Map<string, string>): Map<string, Link> {
  const links = new Map<string, Link>();
  for (const edge of graph.edges) {
    const from = boxOf.get(edge.from);
    const to = boxOf.get(edge.to);
    if (from === undefined || to === undefined || from === to) continue;
    const id = linkId(from, to);
    const link = links.get(id) ?? { id, from, to, edges: [], rate: null, bytes: null, fill: null, dropped: 0, wait: null };
    link.edges.push(edge);
    link.rate = sum(link.rate, edge.rate_hz);
    link.bytes = sum(link.bytes, edge.bytes_per_s);
    link.fill = largest(link.fill, fillOf(edge));
    link.dropped += edge.dropped ?? 0;
    links.set(id, link);
  }
  return links;
}

/** Returns the box that holds up the run most, or null if none does. */
export function worstOf(model: Model): Node | null {
  const slow = model.nodes.filter((one) => one.bottlenecks.length > 0);
  return slow.sort((a, b) => b.bottlenecks[0]!.share - a.bottlenecks[0]!.share)[0] ?? null;
}

const linkId = (from: string, to: string): string => JSON.stringify([from, to]);

/** Adds to the links how long boxes wait. For a box with several components, this is the mean. */
function addWaits(links: Map<string, Link>, nodes: Map<string, Node>, boxOf: Map<string, string>): void {
  for (const [waits, { members }] of nodes) {
    const known = members.filter((one) => one.waiting !== null);
    const shares = new Map<Link, LinkWait>();
    for (const one of known) {
      for (const wait of one.waiting!) {
        const edge = edgeOf(one.name, wait);
        const link = edge && links.get(linkId(boxOf.get(edge.from) ?? '', boxOf.get(edge.to) ?? ''));
        if (!link) continue;
        const holdsUp = nodes.get(boxOf.get(wait.for)!)!.bottlenecks.some((each) => each.component === wait.for);
        const before = shares.get(link) ?? { waits, share: 0, holdsUp: false };
        shares.set(link, { waits, share: before.share + wait.share / known.length, holdsUp: before.holdsUp || holdsUp });
      }
    }
    for (const [link, wait] of shares) if (wait.share > (link.wait?.share ?? 0)) link.wait = wait;
  }
}

/** Returns how full the window of an edge is, from 0 to 1, or null if this is unknown. */
export function fillOf(edge: Edge): number | null {
  return edge.queued === null || !edge.window ? null : Math.min(1, edge.queued / edge.window);
}

/** Returns the topics of a link, without ranks and duplicates, the topic with the most messages first. */
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

/** Adds two numbers. An unknown number (null) counts as 0, but the sum of two unknown numbers is unknown. */
export function sum(left: number | null, right: number | null): number | null {
  return left === null ? right : right === null ? left : left + right;
}

const largest = (left: number | null, right: number | null): number | null =>
  left === null ? right : right === null ? left : Math.max(left, right);

/** Returns the state that is shown for several components: the state that needs the most attention. */
export function stateOf(members: Component[]): string {
  const order = ['error', 'unconfigured', 'finalized', 'inactive'];
  const states = new Set(members.map((one) => one.state));
  return order.find((state) => states.has(state)) ?? members[0]?.state ?? '';
}
