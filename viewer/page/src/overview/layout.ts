// SPDX-License-Identifier: Apache-2.0
import { Graph, layout } from '@dagrejs/dagre';
import type { Model } from './model';
import { backward } from './order';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Route {
  path: string;
  /** The middle of the label. */
  label: { x: number; y: number };
}

export interface Layout {
  width: number;
  height: number;
  boxes: Map<string, Box>;
  frames: Map<number, Box>;
  routes: Map<string, Route>;
}

export const nodeWidth = 226;
export const labelWidth = 128;
const labelHeight = 36;
const margin = 24;

/**
 * Lays out a graph from left to right or from top to bottom, whichever can be drawn larger in a window of this size.
 * `flowing` contains the links that carry messages continually. These links get room for a label and determine the
 * positions of the boxes. The many edges that are used only at the start do not.
 */
export function layoutOf(model: Model, nodeHeight: number, flowing: ReadonlySet<string>, window: { width: number; height: number }): Layout {
  const across = layoutIn('LR', model, nodeHeight, flowing);
  const down = layoutIn('TB', model, nodeHeight, flowing);
  return scaleOf(across, window) >= Math.min(1, scaleOf(down, window)) * 0.9 ? across : down;
}

/** Returns the scale at which a drawing fills a window. */
export const scaleOf = (drawing: { width: number; height: number }, window: { width: number; height: number }): number =>
  Math.min(window.width / drawing.width, window.height / drawing.height);

function layoutIn(rankdir: 'LR' | 'TB', model: Model, nodeHeight: number, flowing: ReadonlySet<string>): Layout {
  const graph = new Graph({ multigraph: true, compound: true });
  graph.setGraph({ rankdir, nodesep: 24, edgesep: 14, ranksep: rankdir === 'LR' ? 26 : 30, marginx: margin, marginy: margin, ranker: 'network-simplex' });
  for (const node of model.nodes) graph.setNode(node.id, { width: nodeWidth, height: nodeHeight });
  for (const frame of new Set(model.nodes.map((node) => node.frame))) {
    if (frame === null) continue;
    graph.setNode(frameId(frame), {});
    for (const node of model.nodes) if (node.frame === frame) graph.setParent(node.id, frameId(frame));
  }
  const back = backward(model, flowing);
  for (const link of model.links) {
    const label = flowing.has(link.id) ? { width: labelWidth, height: labelHeight } : { width: 6, height: 2 };
    const [from, to] = back.has(link.id) ? [link.to, link.from] : [link.from, link.to];
    graph.setEdge(from, to, { ...label, labelpos: 'c', weight: flowing.has(link.id) ? 6 : 1 }, link.id);
  }
  layout(graph);
  return read(graph, model, back);
}

const frameId = (rank: number): string => `frame:${rank}`;

type Placed = { x: number; y: number; width: number; height: number };
type Routed = { points: { x: number; y: number }[]; x?: number; y?: number };

function read(graph: Graph, model: Model, back: ReadonlySet<string>): Layout {
  const boxes = new Map(model.nodes.map((node) => [node.id, corner(graph.node(node.id) as Placed)]));
  const frames = new Map<number, Box>();
  for (const { frame } of model.nodes) if (frame !== null) frames.set(frame, corner(graph.node(frameId(frame)) as Placed));
  const routes = new Map<string, Route>();
  for (const link of model.links) {
    const [v, w] = back.has(link.id) ? [link.to, link.from] : [link.from, link.to];
    const { points, x, y } = graph.edge({ v, w, name: link.id }) as Routed;
    if (back.has(link.id)) points.reverse();
    const middle = points[Math.floor(points.length / 2)]!;
    routes.set(link.id, { path: curve(points), label: { x: x ?? middle.x, y: y ?? middle.y } });
  }
  const size = graph.graph() as { width?: number; height?: number };
  return { width: size.width ?? 0, height: size.height ?? 0, boxes, frames, routes };
}

const corner = ({ x, y, width, height }: Placed): Box => ({ x: x - width / 2, y: y - height / 2, width, height });

/** Returns the SVG path of a smooth line from the first point to the last, through the midpoints between
 * neighbouring points. */
function curve(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${round(first.x)} ${round(first.y)}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (!next) path += `L${round(point.x)} ${round(point.y)}`;
    else path += `Q${round(point.x)} ${round(point.y)} ${round((point.x + next.x) / 2)} ${round((point.y + next.y) / 2)}`;
  });
  return path;
}

const round = (value: number): number => Math.round(value * 10) / 10;
