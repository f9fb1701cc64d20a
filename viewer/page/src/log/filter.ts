// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import type { LogRecord } from '../protocol/types';

export const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'] as const;

/** What of the log is shown. */
export interface LogFilter {
  /** The least important level that is shown. */
  level: string;
  /** A part of the component's name; empty for all components. */
  component: string;
  /** A part of the text; empty for all lines. */
  text: string;
}

export const logFilter = signal<LogFilter>({ level: 'info', component: '', text: '' });

/** Whether a record passes, as the server decides it for the records that it is asked for. */
export function passes(record: LogRecord, { level, component, text }: LogFilter): boolean {
  return (
    levels.indexOf(record.level) >= levels.indexOf(level as LogRecord['level']) &&
    contains(record.component, component) &&
    contains(record.text, text)
  );
}

const contains = (text: string, part: string): boolean => part === '' || text.toLowerCase().includes(part.toLowerCase());
