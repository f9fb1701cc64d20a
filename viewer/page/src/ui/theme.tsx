// SPDX-License-Identifier: Apache-2.0
import { effect, signal } from '@preact/signals';
import { theme } from '../lib/colours';
import { oneOf, stored } from '../lib/stored';
import { Button } from './parts';

type Wish = 'auto' | 'light' | 'dark';

const wish = stored<Wish>('theme', 'auto', oneOf('auto', 'light', 'dark'));
const system = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(system.matches);

/** Shows the theme that the user has chosen or, if there is none, the theme of the system, and follows changes. */
export function startTheme(): void {
  system.addEventListener('change', () => (systemDark.value = system.matches));
  effect(() => {
    theme.value = wish.value === 'auto' ? (systemDark.value ? 'dark' : 'light') : wish.value;
    document.documentElement.dataset['theme'] = theme.value;
  });
}

const next: Record<Wish, Wish> = { auto: 'light', light: 'dark', dark: 'auto' };
const names: Record<Wish, string> = { auto: 'as the system', light: 'light', dark: 'dark' };

export const switchTheme = (): void => {
  wish.value = next[wish.value];
};

export function ThemeSwitch() {
  return (
    <Button
      label={`Theme: ${names[wish.value]}`}
      icon={wish.value === 'auto' ? 'auto' : wish.value}
      iconOnly
      quiet
      onPress={switchTheme}
    />
  );
}
