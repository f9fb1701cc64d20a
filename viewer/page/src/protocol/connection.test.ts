// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { backOff, Connection, Refusal, type Socket } from './connection';

class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  sent: { id: number; op: string }[] = [];
  send(text: string): void {
    this.sent.push(JSON.parse(text) as { id: number; op: string });
  }
  close(): void {
    this.onclose?.();
  }
  say(message: unknown): void {
    this.onmessage?.({ data: typeof message === 'string' ? message : JSON.stringify(message) });
  }
}

let sockets: FakeSocket[];
let connection: Connection;
const socket = (): FakeSocket => sockets.at(-1)!;

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  connection = new Connection(() => {
    sockets.push(new FakeSocket());
    return socket();
  });
  connection.connect();
});
afterEach(() => vi.useRealTimers());

test('An answer goes to the question with its number.', async () => {
  socket().onopen!();
  const first = connection.ask('runs', {});
  const second = connection.ask('series', { run: 'a' });
  socket().say({ id: socket().sent[1]!.id, ok: true, result: ['second'] });
  socket().say({ id: socket().sent[0]!.id, ok: true, result: ['first'] });
  expect(await first).toEqual(['first']);
  expect(await second).toEqual(['second']);
});

test('A refusal keeps its sentence and its code.', async () => {
  socket().onopen!();
  const answer = connection.ask('graph', { run: 'a' });
  socket().say({ id: 1, ok: false, error: "no run named 'a'", code: 'not found' });
  await expect(answer).rejects.toEqual(new Refusal("no run named 'a'", 'not found'));
});

test('What is not an answer is ignored.', async () => {
  socket().onopen!();
  const answer = connection.ask('runs', {});
  for (const nonsense of ['{', 'null', '7', '[]', { id: 99, ok: true }, { push: 'unheard of' }]) socket().say(nonsense);
  socket().say({ id: 1, ok: true, result: [] });
  expect(await answer).toEqual([]);
});

test('A question without an answer fails after a while.', async () => {
  socket().onopen!();
  const answer = expect(connection.ask('runs', {})).rejects.toThrow("The server has not answered 'runs' within 20 s.");
  await vi.advanceTimersByTimeAsync(20_000);
  await answer;
});

test('A lost connection fails what was asked, and is made again after longer and longer pauses.', async () => {
  socket().onopen!();
  const answer = expect(connection.ask('runs', {})).rejects.toThrow('The connection to the server was lost.');
  socket().close();
  await answer;
  expect(connection.link.value).toMatchObject({ kind: 'waiting', attempt: 1 });
  await vi.advanceTimersByTimeAsync(499);
  expect(sockets).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sockets).toHaveLength(2);
  socket().close();
  expect(connection.link.value).toMatchObject({ kind: 'waiting', attempt: 2 });
  expect([1, 2, 3, 4, 5, 6, 20].map(backOff)).toEqual([500, 1000, 2000, 4000, 8000, 15000, 15000]);
});

test('The user can connect without waiting, and then there is one connection only.', async () => {
  socket().close();
  connection.connect();
  socket().onopen!();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sockets).toHaveLength(2);
  expect(connection.link.value).toEqual({ kind: 'open' });
});

test('Nothing is asked without a connection.', async () => {
  await expect(connection.ask('runs', {})).rejects.toThrow('There is no connection to the server.');
});

test('Pushes go to those who listen, until they stop.', () => {
  const heard: string[] = [];
  const off = connection.on('state', (push) => heard.push(push.state));
  socket().say({ push: 'state', run: 'a', state: 'paused' });
  off();
  socket().say({ push: 'state', run: 'a', state: 'ended' });
  expect(heard).toEqual(['paused']);
});

test('No more questions are sent at once than the server takes; the others follow.', async () => {
  socket().onopen!();
  const answers = Array.from({ length: 20 }, () => connection.ask('runs', {}));
  expect(socket().sent).toHaveLength(12);
  for (let id = 1; id <= 20; id++) socket().say({ id, ok: true, result: [] });
  await Promise.all(answers);
  expect(socket().sent.map((one) => one.id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});
