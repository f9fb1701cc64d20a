// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytesPerSecond, count, hertz, percent } from '../lib/format';
import type { Selection } from './details';
import { labelWidth, scaleOf, type Layout } from './layout';
import { topicsOf, type Link, type Model } from './model';
import { Tile } from './tile';

interface Props {
  model: Model;
  layout: Layout;
  flowing: ReadonlySet<string>;
  size: { width: number; height: number };
  /** When this text changes, the graph is fitted into the window again. */
  fitted: string;
  selection: Selection | null;
  onSelect: (selection: Selection | null) => void;
  onRank: (rank: number) => void;
}

interface Pose {
  x: number;
  y: number;
  scale: number;
}

/** The drawing of the graph. Boxes, and lines with a label, are buttons, so that they can be reached with the
 * keyboard. */
export function Canvas(props: Props) {
  const { model, layout, flowing, selection, onSelect, onRank } = props;
  const [pose, setPose, element] = usePose(props);
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const chosenNode = selection?.kind === 'node' ? selection.id : null;
  const near = (link: Link): boolean => chosenNode === link.from || chosenNode === link.to || isChosen(selection, link);
  return (
    <div
      class="canvas"
      ref={element}
      onPointerDown={(event) => {
        if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, moved: false };
      }}
      onPointerMove={(event) => {
        const start = drag.current;
        if (!start || !(event.buttons & 1)) return;
        if (!start.moved && Math.hypot(event.clientX - start.x, event.clientY - start.y) < 4) return;
        if (!start.moved) event.currentTarget.setPointerCapture(event.pointerId);
        setPose((old) => ({ ...old, x: old.x + event.clientX - start.x, y: old.y + event.clientY - start.y }));
        drag.current = { x: event.clientX, y: event.clientY, moved: true };
      }}
      onPointerUp={(event) => {
        if (drag.current && !drag.current.moved && !(event.target as Element).closest('button, .hit')) onSelect(null);
        drag.current = null;
      }}
    >
      <div class="drawing" style={{ transform: `translate(${pose.x}px, ${pose.y}px) scale(${pose.scale})` }}>
        {[...layout.frames].map(([rank, box]) => (
          <div key={rank} class="frame" style={place(box)}>
            <button type="button" aria-expanded="true" title="Fold this rank" onClick={() => onRank(rank)}>
              rank {rank}
            </button>
          </div>
        ))}
        <svg class="links" width={layout.width} height={layout.height} aria-hidden="true">
          <defs>
            {['plain', 'near', 'full', 'quiet'].map((kind) => (
              <marker key={kind} id={`tip-${kind}`} class={`tip-${kind}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
                <path d="M0 0.500L8 4L0 7.500z" />
              </marker>
            ))}
          </defs>
          {model.links.map((link) => {
            const route = layout.routes.get(link.id);
            if (!route) return null;
            const kind = near(link) ? 'near' : isFull(link) || holdsUp(link) ? 'full' : flowing.has(link.id) ? 'plain' : 'quiet';
            return (
              <g key={link.id} class={`link ${kind}${chosenNode && !near(link) ? ' far' : ''}`}>
                <path class="hit" d={route.path} onClick={() => onSelect({ kind: 'link', id: link.id })} />
                <path class="line" d={route.path} style={{ strokeWidth: thickness(link) }} marker-end={`url(#tip-${kind})`} />
              </g>
            );
          })}
        </svg>
        {model.links.map((link) => {
          const route = layout.routes.get(link.id);
          if (!route || !flowing.has(link.id)) return null;
          return (
            <button
              key={link.id}
              type="button"
              class={`link-label${isFull(link) || holdsUp(link) ? ' full' : ''}${chosenNode && !near(link) ? ' far' : ''}`}
              aria-pressed={isChosen(selection, link)}
              style={{ left: `${route.label.x}px`, top: `${route.label.y}px`, maxWidth: `${labelWidth}px` }}
              onClick={() => onSelect({ kind: 'link', id: link.id })}
            >
              <LinkLabel link={link} model={model} detailed={near(link)} />
            </button>
          );
        })}
        {model.nodes.map((node) => {
          const box = layout.boxes.get(node.id);
          if (!box) return null;
          return (
            <button
              key={node.id}
              type="button"
              class={`tile kind-${node.kind}${node.bottlenecks.length > 0 ? ' is-bottleneck' : ''}`}
              aria-pressed={chosenNode === node.id}
              style={place(box)}
              title={node.kind === 'rank' ? 'Double-click unfolds this rank' : undefined}
              onClick={() => onSelect({ kind: 'node', id: node.id })}
              onDblClick={() => node.kind === 'rank' && onRank(node.members[0]!.rank!)}
            >
              <Tile node={node} />
            </button>
          );
        })}
      </div>
    </div>
  );
}

function LinkLabel({ link, model, detailed }: { link: Link; model: Model; detailed: boolean }) {
  const all = topicsOf(link);
  const topics = all.filter((topic) => (topic.rate ?? 0) > 0);
  // While no messages pass, the topic that passed messages last is shown.
  const last = useRef('');
  last.current = topics[0]?.topic ?? last.current;
  const shown = all.find((topic) => topic.topic === last.current) ?? all[0]!;
  return (
    <>
      <span class="label-topic">
        <bdi>{shown.topic}</bdi>
        {topics.length > 1 && <i> +{topics.length - 1}</i>}
      </span>
      <span class="label-rate">
        {hertz(shown.rate)}
        {(shown.bytes ?? 0) >= 1 && <i>{bytesPerSecond(shown.bytes)}</i>}
      </span>
      {link.wait !== null && (holdsUp(link) || (detailed && link.wait.share >= worthShowing)) && (
        <span class="label-wait" title={`${titleOf(model, link.wait.waits)} spends ${percent(link.wait.share)} of its time with waiting here`}>
          {link.wait.waits === link.to ? 'waited for' : 'no room'} {percent(link.wait.share)}
        </span>
      )}
      {link.fill !== null && link.fill > 0 && (
        <span class="fill" title={`the fullest window is ${Math.round(link.fill * 100)} % used`}>
          <i style={{ width: `${link.fill * 100}%` }} />
        </span>
      )}
      {link.dropped > 0 && <span class="drops">{count(link.dropped)} dropped</span>}
    </>
  );
}

const isChosen = (selection: Selection | null, link: Link): boolean => selection?.kind === 'link' && selection.id === link.id;

const isFull = (link: Link): boolean => (link.fill ?? 0) >= 1 || link.dropped > 0;

const titleOf = (model: Model, id: string): string => model.nodes.find((node) => node.id === id)?.title ?? id;

const worthShowing = 0.05;

/** Returns true if a component waits on this link for a component that holds up the run. */
const holdsUp = (link: Link): boolean => link.wait !== null && link.wait.holdsUp && (link.rate ?? 0) > 0 && link.wait.share >= worthShowing;

const thickness = (link: Link): string => `${Math.min(4.5, 1.25 + 0.42 * Math.max(0, Math.log10((link.bytes ?? 0) / 1e4)))}px`;

const place = (box: { x: number; y: number; width: number; height: number }) => ({
  left: `${box.x}px`,
  top: `${box.y}px`,
  width: `${box.width}px`,
  height: `${box.height}px`,
});

/** A hook for the position and scale of the drawing in the window. The wheel zooms around the pointer. */
function usePose({ layout, size, fitted }: Props) {
  const [pose, setPose] = useState<Pose>({ x: 0, y: 0, scale: 1 });
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (size.width > 0) setPose(fit(layout, size));
  }, [fitted, size.width, size.height]);
  useEffect(() => {
    const target = element.current!;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = target.getBoundingClientRect();
      setPose((old) => zoomed(old, Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top));
    };
    target.addEventListener('wheel', wheel, { passive: false });
    return () => target.removeEventListener('wheel', wheel);
  }, []);
  return [pose, setPose, element] as const;
}

function fit(layout: Layout, size: { width: number; height: number }): Pose {
  const readable = Math.max(0.45, Math.min(1.25, scaleOf(layout, size)));
  return {
    scale: readable,
    x: Math.max(0, (size.width - layout.width * readable) / 2),
    y: Math.max(0, (size.height - layout.height * readable) / 2),
  };
}

function zoomed(pose: Pose, factor: number, x: number, y: number): Pose {
  const scale = Math.min(3, Math.max(0.15, pose.scale * factor));
  const by = scale / pose.scale;
  return { scale, x: x - (x - pose.x) * by, y: y - (y - pose.y) * by };
}
