// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Series } from '../protocol/types';
import { usePush, useQuery } from '../state/hooks';

/** The series of each chosen run. */
export const catalogue = signal<ReadonlyMap<string, Series[]>>(new Map());

/** Counts, for each run, how often its curves have grown. At most once a second, however fast a run is. */
export const growth = signal<ReadonlyMap<string, number>>(new Map());

const shortestPause = 1000;

/** Keeps the series of a run in the catalogue, as long as this is part of the page. */
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
