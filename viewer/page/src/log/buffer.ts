// SPDX-License-Identifier: Apache-2.0
import type { LogRecord } from '../protocol/types';

/** The part of the log that the page holds: at most `limit` records, sorted by number, without duplicates. */
export class LogBuffer {
  records: readonly LogRecord[] = [];

  constructor(private readonly limit = 20_000) {}

  /** Adds older records. Returns how many were added at the front. */
  prepend(page: LogRecord[]): number {
    const first = this.records[0]?.number ?? Infinity;
    const fresh = sorted(page).filter((one) => one.number < first);
    this.records = [...fresh, ...this.records].slice(0, this.limit);
    return fresh.length;
  }

  /** Adds newer records. Returns how many were dropped at the front to make room. */
  append(page: LogRecord[]): number {
    const last = this.records.at(-1)?.number ?? -Infinity;
    const fresh = sorted(page).filter((one) => one.number > last);
    if (fresh.length === 0) return 0;
    const all = [...this.records, ...fresh];
    const dropped = Math.max(0, all.length - this.limit);
    this.records = dropped ? all.slice(dropped) : all;
    return dropped;
  }

  clear(): void {
    this.records = [];
  }
}

function sorted(page: LogRecord[]): LogRecord[] {
  const list = [...page].sort((a, b) => a.number - b.number);
  return list.filter((one, index) => one.number !== list[index - 1]?.number);
}
