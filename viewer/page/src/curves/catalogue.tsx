// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Series } from '../protocol/types';
import { usePush, useQuery } from '../state/hooks';

/** The list of series (one for each metric and stage) of each chosen run. */
export const catalogue = signal<ReadonlyMap<string, Series[]>>(new Map());

/** A number for each run that increases when its curves have grown, at most once a second. */
export const growth = signal<ReadonlyMap<string, number>>(new Map());

const shortestPause = 1000;

/** Keeps the series of a run in the catalogue while this component is mounted. */
export function Catalogued({ run }: { run: string }) {
  const query = useQuery('series', { run });
  const timer = useRef<ReturnType<typeof setTimeout>>();
  usePush(run, 'curves', () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      growth.value = new Map(growth.value).set(run, (growth.value.get(run) ?? 0) + 1);
      query.again();
    }, shortestPause);
  });
  useEffect(() => {
    if (query.data) catalogue.value = new Map(catalogue.value).set(run, query.data);
  }, [query.data]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      const rest = new Map(catalogue.value);
      rest.delete(run);
      catalogue.value = rest;
    },
    [run],
  );
  return null;
}
