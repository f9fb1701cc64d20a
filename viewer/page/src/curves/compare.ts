// SPDX-License-Identifier: Apache-2.0
import type { Json } from '../protocol/types';

/** The hyperparameters of a run, by name. */
export type Flat = Record<string, Json>;

export interface Row {
  name: string;
  values: (Json | undefined)[];
  differs: boolean;
}

/** Returns a row for each hyperparameter that any run has. Rows in which the runs differ come first. */
export function rowsOf(columns: (Flat | undefined)[]): Row[] {
  const names = [...new Set(columns.flatMap((column) => Object.keys(column ?? {})))].sort();
  const rows = names.map((name) => {
    const values = columns.map((column) => (column && Object.hasOwn(column, name) ? column[name] : undefined));
    return { name, values, differs: new Set(values.map((one) => JSON.stringify(one))).size > 1 };
  });
  return [...rows.filter((row) => row.differs), ...rows.filter((row) => !row.differs)];
}
