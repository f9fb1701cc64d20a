// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import type { Pushes, Questions } from './types';

/** The state of the connection. `until` is the time of the next attempt, in milliseconds like Date.now(). */
export type Link =
  | { kind: 'connecting'; attempt: number }
  | { kind: 'open' }
  | { kind: 'waiting'; attempt: number; until: number; refused: boolean };

/** The error with which the server refuses a question: a sentence for the user, and a code for programs. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** The part of the class WebSocket that a connection uses, so that tests can replace it. */
export interface Socket {
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  send(text: string): void;
  close(): void;
}

interface Pending {
  op: string;
  text: string;
  resolve: (result: never) => void;
  reject: (error: Error) => void;
  timer?: ReturnType<typeof setTimeout>;
}

type Listener<K extends keyof Pushes> = (push: Pushes[K]) => void;

const answerTimeout = 20_000;
// The server accepts at most 16 unanswered questions.
const mostAtOnce = 12;
const longestWait = 15_000;

/** Returns how long to wait before an attempt to connect, in milliseconds. The time starts at 500 and doubles with
 * each attempt, up to a limit. */
export const backOff = (attempt: number): number => Math.min(longestWait, 500 * 2 ** Math.max(0, attempt - 1));

/** A connection to the server. It sends questions, passes on messages that the server sends without being asked
 * (pushes), and connects again whenever the connection is lost. */
export class Connection {
  readonly link = signal<Link>({ kind: 'connecting', attempt: 0 });
  /** Called whenever a connection has been made, including after an earlier one was lost. */
  onOpen: () => void = () => {};

  private socket: Socket | null = null;
  private attempt = 0;
  private nextId = 1;
  private readonly pending = new Map<number, Pending>();
  private readonly queue: number[] = [];
  private asked = 0;
  private readonly listeners = new Map<string, Set<Listener<never>>>();
  private retry: ReturnType<typeof setTimeout> | undefined;

  /** `refused` finds out whether the server is running but does not admit this page. */
  constructor(
    private readonly make: () => Socket,
    private readonly refused: () => Promise<boolean> = async () => false,
  ) {}

  /** Connects immediately instead of at the time of the next attempt. */
  connect(): void {
    clearTimeout(this.retry);
    if (this.socket) return;
    this.link.value = { kind: 'connecting', attempt: this.attempt };
    const socket = this.make();
    this.socket = socket;
    socket.onopen = () => {
      this.attempt = 0;
      this.link.value = { kind: 'open' };
      this.onOpen();
    };
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = () => this.lost();
  }

  /** Asks the server a question. The promise is rejected with a Refusal if the server refuses the question, and with
   * another Error if the connection is lost. */
  ask<K extends keyof Questions>(op: K, question: Questions[K][0]): Promise<Questions[K][1]> {
    if (!this.socket || this.link.peek().kind !== 'open') return Promise.reject(new Error('There is no connection to the server.'));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { op, text: JSON.stringify({ id, op, ...question }), resolve: resolve as Pending['resolve'], reject });
      this.queue.push(id);
      this.send();
    });
  }

  /** Calls `listener` for every push of one kind. Returns a function that removes the listener. */
  on<K extends keyof Pushes>(kind: K, listener: Listener<K>): () => void {
    const set = this.listeners.get(kind) ?? new Set();
    this.listeners.set(kind, set);
    set.add(listener as Listener<never>);
    return () => set.delete(listener as Listener<never>);
  }

  /** Sends queued questions, up to the number that may be unanswered. */
  private send(): void {
    while (this.asked < mostAtOnce && this.queue.length > 0) {
      const id = this.queue.shift()!;
      const pending = this.pending.get(id)!;
      this.asked++;
      pending.timer = setTimeout(() => {
        this.settle(id)?.reject(new Error(`The server has not answered '${pending.op}' within ${answerTimeout / 1000} s.`));
      }, answerTimeout);
      this.socket!.send(pending.text);
    }
  }

  /** Removes a question that has been answered, and sends the next one in the queue. */
  private settle(id: number): Pending | undefined {
    const pending = this.pending.get(id);
    if (!pending?.timer) return undefined;
    clearTimeout(pending.timer);
    this.pending.delete(id);
    this.asked--;
    this.send();
    return pending;
  }

  private receive(data: unknown): void {
    const message = parse(data);
    if (!message) return;
    if (typeof message.push === 'string') {
      for (const listener of this.listeners.get(message.push) ?? []) listener(message as never);
      return;
    }
    const pending = this.settle(message.id as number);
    if (!pending) return;
    if (message.ok === true) pending.resolve(message.result as never);
    else pending.reject(new Refusal(String(message.error ?? 'The server refused.'), String(message.code ?? '')));
  }

  private lost(): void {
    this.socket = null;
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer);
      reject(new Error('The connection to the server was lost.'));
    }
    this.pending.clear();
    this.queue.length = this.asked = 0;
    const attempt = ++this.attempt;
    const wait = backOff(attempt);
    this.link.value = { kind: 'waiting', attempt, until: Date.now() + wait, refused: false };
    this.retry = setTimeout(() => this.connect(), wait);
    void this.refused().then((refused) => {
      const link = this.link.peek();
      if (refused && link.kind === 'waiting') this.link.value = { ...link, refused };
    });
  }
}

function parse(data: unknown): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(String(data));
    return typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
