// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** One key and what it does. Keys of a view are only there while the view is shown. */
export interface Key {
  /** As in KeyboardEvent.key: "g", "?", "Escape". */
  key: string;
  help: string;
  run: () => void;
}

export interface KeyGroup {
  title: string;
  keys: Key[];
}

/** The keys that work now, for the page that lists them. */
export const groups = signal<KeyGroup[]>([]);

/** Makes keys work as long as the component is shown. */
export function useKeys(title: string, keys: Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const group: KeyGroup = {
      title,
      get keys() {
        return latest.current;
      },
    };
    groups.value = [...groups.value, group];
    return () => {
      groups.value = groups.value.filter((one) => one !== group);
    };
  }, [title]);
}

/** Listens to the keyboard. A key that is typed into a field, or together with Ctrl, Alt or Meta, is left alone. */
export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    // The newest group wins, so that a view can give a key another meaning.
    for (const group of [...groups.value].reverse()) {
      const key = group.keys.find((one) => one.key === event.key);
      if (!key) continue;
      event.preventDefault();
      key.run();
      return;
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'range', 'button'].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
