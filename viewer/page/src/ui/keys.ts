// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** A key and its function. The keys of a view work only while the view is shown. */
export interface Key {
  /** The value of KeyboardEvent.key, such as "g", "?" or "Escape". */
  key: string;
  help: string;
  run: () => void;
}

export interface KeyGroup {
  title: string;
  keys: Key[];
}

/** The keys that work at present, for the dialog that lists them. */
export const groups = signal<KeyGroup[]>([]);

/** A hook that makes keys work while the component is mounted. */
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

/** Begins to listen to the keyboard. Keys that are typed into an input field, or together with Ctrl, Alt or Meta,
 * are ignored. */
export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    // The newest group is searched first, so that a view can give a key another meaning.
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
