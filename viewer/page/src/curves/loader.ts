// SPDX-License-Identifier: Apache-2.0
import { connection } from '../state/session';
import type { Curve, CurveQuestion } from '../protocol/types';

/**
 * Asks for curves, a few at a time. A question that has not been sent yet is replaced by a newer one with the same key,
 * so that fast zooming asks only for what is still wanted.
 */
export class Loader {
  private readonly waiting = new Map<string, { question: CurveQuestion; done: (curve: Curve) => void; failed: (error: Error) => void }>();
  private readonly running = new Set<string>();

  constructor(
    private readonly ask: (question: CurveQuestion) => Promise<Curve>,
    private readonly atOnce = 6,
  ) {}

  /** Calls `done` or `failed`, or neither of them if the question has been replaced or dropped. */
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
      // A curve that is on its way is awaited, and asked for again after that.
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
