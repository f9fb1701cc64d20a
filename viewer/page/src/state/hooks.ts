// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Pushes, Questions, Topic } from '../protocol/types';
import { connection, era } from './session';
import { watch } from './watching';

export interface Query<T> {
  data: T | null;
  error: string | null;
  loading: boolean;
  /** Asks again. The old data remains until the new data has arrived. */
  again: () => void;
  /** Replaces the data, for example after the page itself has changed something on the server. */
  set: (change: (data: T | null) => T | null) => void;
}

/**
 * Asks the server once, and again whenever the question changes or a new connection has been made. When the question
 * changes, the old data is dropped immediately. When the same question is asked again, the old data remains until the
 * answer arrives.
 */
export function useQuery<K extends keyof Questions>(op: K, question: Questions[K][0] | null): Query<Questions[K][1]> {
  type Result = Questions[K][1];
  const key = question === null ? null : JSON.stringify([op, question]);
  const [state, setState] = useState<{ key: string | null; data: Result | null; error: string | null; loading: boolean }>({
    key: null,
    data: null,
    error: null,
    loading: false,
  });
  const [turn, setTurn] = useState(0);
  const connected = era.value;
  useEffect(() => {
    if (key === null || question === null || connected === 0) return undefined;
    let current = true;
    setState((old) => ({ key, data: old.key === key ? old.data : null, error: null, loading: true }));
    connection.ask(op, question).then(
      (data) => current && setState({ key, data, error: null, loading: false }),
      (error: Error) => current && setState((old) => ({ ...old, error: error.message, loading: false })),
    );
    return () => {
      current = false;
    };
    // `key` contains the operation and the question, so these are not listed as dependencies.
  }, [key, connected, turn]);
  const mine = state.key === key;
  return {
    data: mine ? state.data : null,
    error: mine ? state.error : null,
    loading: !mine || state.loading,
    again: () => setTurn((old) => old + 1),
    set: (change) => setState((old) => (old.key === key ? { ...old, data: change(old.data) } : old)),
  };
}

/** Watches one kind of news of a run while the component is mounted, and calls `listener` with what the server
 * pushes about this run. */
export function usePush<K extends Topic & keyof Pushes>(run: string | null, topic: K, listener: (push: Pushes[K]) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    if (run === null) return undefined;
    const unwatch = watch(run, topic);
    const off = connection.on(topic, (push) => {
      if ((push as { run: string }).run === run) latest.current(push);
    });
    return () => {
      off();
      unwatch();
    };
  }, [run, topic]);
}

/** Returns a reference for an element, and the element's current size in CSS pixels. */
export function useSize<E extends HTMLElement>(): [{ current: E | null }, { width: number; height: number }] {
  const element = useRef<E>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}
