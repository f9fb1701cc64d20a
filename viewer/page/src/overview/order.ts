// SPDX-License-Identifier: Apache-2.0
import { shortName, type Model, type Node } from './model';

/**
 * Determines which links run against the order in which the boxes are drawn. The graph has cycles, such as that of
 * gradients and parameters, so some links must run backwards. The result is the same for all ranks, because only the
 * kinds of boxes matter.
 *
 * Kinds are ordered greedily: kinds that only receive come last. Of the others, the kind that sends to the most kinds,
 * less those from which it receives, comes first.
 */
export function backward(model: Model, flowing: ReadonlySet<string>): ReadonlySet<string> {
  const kindOf = new Map(model.nodes.map((node) => [node.id, kind(node)]));
  const arcs = new Map<string, { from: string; to: string; weight: number }>();
  for (const link of model.links) {
    const [from, to] = [kindOf.get(link.from)!, kindOf.get(link.to)!];
    const key = JSON.stringify([from, to]);
    const weight = flowing.has(link.id) ? 1 : 0.01;
    if (from !== to && (arcs.get(key)?.weight ?? 0) < weight) arcs.set(key, { from, to, weight });
  }
  const place = new Map(ordered([...new Set(kindOf.values())], [...arcs.values()]).map((name, index) => [name, index]));
  const back = model.links.filter((link) => place.get(kindOf.get(link.from)!)! > place.get(kindOf.get(link.to)!)!);
  return new Set(back.map((link) => link.id));
}

const kind = (node: Node): string => (node.kind === 'rank' ? 'rank' : shortName(node.members[0]!));

interface Arc {
  from: string;
  to: string;
  weight: number;
}

function ordered(names: string[], arcs: Arc[]): string[] {
  const first: string[] = [];
  const last: string[] = [];
  let left = names;
  while (left.length > 0) {
    const there = new Set(left);
    const among = arcs.filter((arc) => there.has(arc.from) && there.has(arc.to));
    const sends = (name: string) => total(among.filter((arc) => arc.from === name));
    const receives = (name: string) => total(among.filter((arc) => arc.to === name));
    const sink = left.find((name) => sends(name) === 0 && receives(name) > 0);
    const next = sink ?? left.reduce((best, name) => (sends(name) - receives(name) > sends(best) - receives(best) ? name : best));
    if (sink !== undefined) last.unshift(sink);
    else first.push(next);
    left = left.filter((name) => name !== next);
  }
  return [...first, ...last];
}

const total = (arcs: Arc[]): number => arcs.reduce((sum, arc) => sum + arc.weight, 0);
