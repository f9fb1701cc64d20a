// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Timeline } from '../protocol/types';
import { batchBeside, lengthOf, pathOf, pictureOf } from './model';
import { sliceAt, ticks, timeAt, tops, xOf } from './paint';

type Given = [row: number, kind: string, begin: number, end: number, batch: number | null, peer?: string];

const texts = ['', 'loader', 'host', 'something'];

function timeline(given: Given[]): Timeline {
  const column = <T>(pick: (one: Given) => T) => given.map(pick);
  return {
    length_ns: 100,
    lost: 0,
    rows: [
      { process: 'a', component: 'loader', thread: 'main', own_thread: 0, steps: false },
      { process: 'a', component: 'loader', thread: 'main', own_thread: 2, steps: false },
      { process: 'b', component: 'host', thread: 'main', own_thread: 0, steps: false },
      { process: 'b', component: 'host', thread: 'main', own_thread: 0, steps: true },
    ],
    texts,
    spans: {
      row: column(([row]) => row),
      kind: column(([, kind]) => kind),
      text: column(() => 3),
      peer: column(([, , , , , peer]) => texts.indexOf(peer ?? '')),
      begin_ns: column(([, , begin]) => begin),
      ns: column(([, , begin, end]) => end - begin),
      step: column(() => 7),
      batch: column(([, , , , batch]) => batch),
      rank: column(() => 0),
    },
  };
}

test('what lies inside something else is drawn below it', () => {
  const [, , host] = pictureOf(
    timeline([
      [2, 'backward', 30, 50, 1],
      [2, 'handler', 10, 60, 1],
      [2, 'collective', 40, 45, 1],
      [2, 'forward', 10, 30, 1],
      [2, 'handler', 60, 70, 2],
    ]),
  ).rows;
  expect(host!.slices.map((one) => [one.kind, one.depth])).toEqual([
    ['handler', 0],
    ['forward', 1],
    ['backward', 1],
    ['collective', 2],
    ['handler', 0],
  ]);
  expect(host!.depths).toBe(3);
});

test('the picture begins with the first work, however long messages were under way or components had waited', () => {
  const picture = pictureOf(
    timeline([
      [2, 'hop', 0, 95, 1, 'loader'],
      [2, 'handler', 95, 99, 1],
      [0, 'handler', 90, 100, null],
      [0, 'wait', 10, 90, null],
    ]),
  );
  expect(picture.length).toBe(10);
  expect(picture.rows.map(({ slices }) => slices.map(({ begin, end }) => [begin, end]))).toEqual([[[-80, 0], [0, 10]], [], [[5, 9]], []]);
  expect(picture.arrows.map(({ begin, end }) => [begin, end])).toEqual([[-90, 5]]);
});

test('a message is an arrow between the event loops of its components', () => {
  const { arrows, rows } = pictureOf(
    timeline([
      [2, 'hop', 5, 9, 1, 'loader'],
      [2, 'hop', 5, 9, 1, 'something'],
    ]),
  );
  expect(arrows).toEqual([{ from: 0, to: 2, text: 'something', begin: 5, end: 9, batch: { rank: 0, number: 1 } }]);
  expect(rows.map((row) => row.label)).toEqual(['loader', 'loader: thread 2', 'host', 'host: steps']);
});

test('the path of a batch has what it caused, and not the waiting between messages', () => {
  const picture = pictureOf(
    timeline([
      [1, 'read', 0, 20, 4],
      [2, 'wait', 0, 25, 4, 'loader'],
      [2, 'hop', 22, 25, 4, 'loader'],
      [2, 'handler', 25, 60, 4],
      [2, 'wait', 30, 40, 4],
      [2, 'handler', 70, 80, 5],
      [2, 'handler', 80, 90, null],
      [3, 'step', 20, 60, 4],
    ]),
  );
  expect(pathOf(picture, { rank: 0, number: 4 }).map((one) => ('kind' in one ? one.kind : 'hop'))).toEqual(['read', 'hop', 'handler', 'wait']);
  expect(picture.batches).toEqual([
    { rank: 0, number: 4 },
    { rank: 0, number: 5 },
  ]);
});

test('one can go from batch to batch, and stops at the ends', () => {
  const picture = pictureOf(
    timeline([
      [2, 'handler', 0, 1, 8],
      [2, 'handler', 2, 3, 9],
    ]),
  );
  expect(batchBeside(picture, null, 1)?.number).toBe(8);
  expect(batchBeside(picture, null, -1)?.number).toBe(9);
  expect(batchBeside(picture, { rank: 0, number: 8 }, 1)?.number).toBe(9);
  expect(batchBeside(picture, { rank: 0, number: 9 }, 1)?.number).toBe(9);
  expect(batchBeside(pictureOf(timeline([])), null, 1)).toBeNull();
});

test('places and times are the same thing in two directions', () => {
  const range = { from: 20, to: 60 };
  for (const time of [20, 33, 60]) expect(timeAt(xOf(time, range, 900), range, 900)).toBeCloseTo(time);
});

test('the innermost slice under the pointer is found, even if it is very narrow', () => {
  const picture = pictureOf(
    timeline([
      [2, 'handler', 0, 100, 1],
      [2, 'forward', 50, 50, 1],
    ]),
  );
  const scene = { picture, range: { from: 0, to: 100 }, batch: null, width: 600, colours: () => '' };
  const top = tops(picture.rows)[2]!;
  expect(sliceAt(scene, xOf(50, scene.range, 600), top + 20)?.kind).toBe('forward');
  expect(sliceAt(scene, xOf(50, scene.range, 600), top + 4)?.kind).toBe('handler');
  expect(sliceAt(scene, xOf(80, scene.range, 600), top + 20)).toBeNull();
  expect(sliceAt(scene, 10, top + 4)).toBeNull();
});

test('the axis has round times, and never too many', () => {
  expect(ticks({ from: 3, to: 52 }, 550)).toEqual([10, 20, 30, 40, 50]);
  expect(ticks({ from: 0, to: 1 }, 1e9).length).toBeLessThanOrEqual(200);
});

test('lengths have a unit that fits', () => {
  expect([0, 999, 1500, 1234567, 2.5e9].map(lengthOf)).toEqual(['0 ns', '999 ns', '1.5 µs', '1.235 ms', '2.5 s']);
});
