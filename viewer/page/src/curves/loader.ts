// SPDX-License-Identifier: Apache-2.0
import { connection } from '../state/session';
import type { Curve, CurveQuestion } from '../protocol/types';

/**
 * Requests curves from the server, a few at a time. A newer question replaces a question with the same key that has not
 * been sent yet, so that fast zooming requests only curves that are still needed.
 */
export class Loader {
  private readonly waiting = new Map<string, { question: CurveQuestion; done: (curve: Curve) => void; failed: (error: Error) => void }>();
  private readonly running = new Set<string>();

  constructor(
    private readonly ask: (question: CurveQuestion) => Promise<Curve>,
    private readonly atOnce = 6,
  ) {}

  /** Queues a question. Later calls `done` or `failed`, or neither if the question was replaced or dropped. */
  load(key: string, question: CurveQuestion, done: (curve: Curve) => void, failed: (error: Error) => void): void {
    this.waiting.delete(key);
    this.waiting.set(key, { question, done, failed });
    this.next();
  }

  drop(key: string): void {
    this.waiting.delete(key);
  }

  private next(): void {
    for (const [key, { question, done, failed }] of this.waiting) {
      if (this.running.size >= this.atOnce) return;
      // While a question with this key is being answered, the new question waits.
      if (this.running.has(key)) continue;
      this.waiting.delete(key);
      this.running.add(key);
      void this.ask(question)
        .then(done, failed)
        .finally(() => {
          this.running.delete(key);
          this.next();
        });
    }
  }
}

export const loader = new Loader((question) => connection.ask('curve', question));
