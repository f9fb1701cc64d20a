// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren, JSX } from 'preact';
import type { RunState } from '../protocol/types';
import { Icon, type IconName } from './icons';

/** Shows a text from an untrusted source. It cannot change the writing direction of the text around it, and is
 * visibly separate from it. */
export function Foreign({ children, title = true }: { children: string; title?: boolean }) {
  return (
    <bdi class="foreign" title={title ? children : undefined}>
      {children}
    </bdi>
  );
}

/** A button. If `why` is a text, the button is disabled and shows this text as the reason. */
export function Button(props: {
  label: string;
  icon?: IconName;
  onPress: () => void;
  why?: string | null | undefined;
  quiet?: boolean;
  kind?: 'plain' | 'danger' | 'primary';
  iconOnly?: boolean;
  title?: string | undefined;
  pressed?: boolean | undefined;
}) {
  const { label, icon, onPress, why, kind = 'plain', iconOnly, title, pressed } = props;
  return (
    <button
      type="button"
      class={`button ${kind}${iconOnly ? ' icon-only' : ''}${props.quiet ? ' quiet' : ''}`}
      aria-label={iconOnly ? label : undefined}
      aria-disabled={why ? true : undefined}
      aria-pressed={pressed}
      title={why ?? title ?? (iconOnly ? label : undefined)}
      onClick={() => !why && onPress()}
    >
      {icon && <Icon name={icon} filled={pressed === true && icon === 'star'} />}
      {!iconOnly && <span>{label}</span>}
    </button>
  );
}

const words: Record<RunState, string> = {
  starting: 'Starting',
  running: 'Running',
  paused: 'Paused',
  ended: 'Ended',
  failed: 'Failed',
  interrupted: 'Interrupted',
  killed: 'Killed',
  unknown: 'Unknown',
  recording: 'Recording',
};

export function StatePill({ state }: { state: RunState }) {
  return <span class={`pill state-${state}`}>{words[state] ?? String(state)}</span>;
}

/** What a view shows if there is no data: what is missing, and how to get it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty" role="status">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

/** What a view shows instead of data that could not be loaded. */
export function Failure({ error, again }: { error: string; again: () => void }) {
  return (
    <div class="empty failure" role="alert">
      <p class="empty-title">{error}</p>
      <Button label="Try again" onPress={again} />
    </div>
  );
}

export function Search(props: { label: string; value: string; onInput: (text: string) => void; id?: string }) {
  return (
    <label class="search">
      <Icon name="search" />
      <input
        id={props.id}
        type="search"
        placeholder={props.label}
        aria-label={props.label}
        value={props.value}
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          props.onInput('');
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}

/** A control with which the user chooses one of a few values. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  const move = (event: JSX.TargetedKeyboardEvent<HTMLElement>) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const at = props.options.findIndex(([value]) => value === props.value);
    const next = (at + by + props.options.length) % props.options.length;
    props.onChange(props.options[next]![0]);
    (event.currentTarget.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="choice" role="radiogroup" aria-label={props.label} onKeyDown={move}>
      {props.options.map(([value, text]) => (
        <button
          key={value}
          type="button"
          role="radio"
          aria-checked={value === props.value}
          tabIndex={value === props.value ? 0 : -1}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export function Check(props: { label: string; checked: boolean; onChange: (on: boolean) => void; title?: string }) {
  return (
    <label class="check" title={props.title}>
      <input type="checkbox" checked={props.checked} onChange={(event) => props.onChange(event.currentTarget.checked)} />
      <span>{props.label}</span>
    </label>
  );
}
