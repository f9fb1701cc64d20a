// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import type { LogRecord } from '../protocol/types';

export const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'] as const;

/** Which records of the log are shown. */
export interface LogFilter {
  /** The lowest level that is shown. */
  level: string;
  /** A part of the component's name; empty for all components. */
  component: string;
  /** A part of the text; empty for all lines. */
  text: string;
}

export const logFilter = signal<LogFilter>({ level: 'info', component: '', text: '' });

/** Returns true if a record passes the filter. The server applies the same rules when it answers a question about
 * the log. */
export function passes(record: LogRecord, { level, component, text }: LogFilter): boolean {
  return (
    levels.indexOf(record.level) >= levels.indexOf(level as LogRecord['level']) &&
    contains(record.component, component) &&
    contains(record.text, text)
  );
}

const contains = (text: string, part: string): boolean => part === '' || text.toLowerCase().includes(part.toLowerCase());
