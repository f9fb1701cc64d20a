// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { check, rulesOf, typedForm } from '../lib/allowed';
import { value as shown } from '../lib/format';
import type { Parameter } from '../protocol/types';
import { connection, whyNoControl } from '../state/session';
import { run as current } from '../state/place';
import { notify } from '../ui/notices';

interface Props {
  run: string;
  component: string;
  parameter: Parameter;
  onSet: (parameter: Parameter) => void;
}

/** An input field for the value of a parameter. A value that is not allowed is explained while the user types, and
 * is never sent. */
export function Editor({ run, component, parameter, onSet }: Props) {
  const id = useId();
  const typed = useSignal<string | null>(null);
  const busy = useSignal(false);
  const refusal = useSignal<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const value = typedForm(parameter);
  // A value that another user has set replaces the value that is shown, but not a text that is being typed.
  useEffect(() => {
    if (typed.value === value) typed.value = null;
  }, [value]);

  const why = whyNoControl.value ?? (current.value?.live === false ? 'The run is over.' : null);
  const checked = typed.value === null ? null : check(parameter, typed.value);
  const error = checked && !checked.ok ? checked.error : refusal.value;
  const dirty = typed.value !== null && typed.value !== value;

  const send = async (text: string) => {
    const wish = check(parameter, text);
    if (!wish.ok || why || busy.value) return;
    busy.value = true;
    refusal.value = null;
    try {
      onSet(await connection.ask('set_parameter', { run, component, name: parameter.name, value: wish.value }));
      typed.value = null;
      notify(`${component}.${parameter.name} is ${shown(wish.value)} now.`);
    } catch (failure) {
      refusal.value = (failure as Error).message;
    } finally {
      busy.value = false;
    }
  };
  const cancel = () => {
    typed.value = null;
    refusal.value = null;
  };
  const choices = parameter.kind === 'bool' ? ['true', 'false'] : parameter.kind === 'string' ? rulesOf(parameter.allowed).choices : [];
  const label = `${component}.${parameter.name}`;
  if (choices.length > 0) {
    return (
      <div class="editor">
        <select aria-label={label} title={why ?? undefined} disabled={why !== null || busy.value} value={value} onChange={(event) => void send(event.currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
        {error && <p class="editor-error" role="alert">{error}</p>}
      </div>
    );
  }
  return (
    <form
      class={`editor${dirty ? ' dirty' : ''}${error ? ' wrong' : ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (dirty) void send(typed.value!);
      }}
    >
      <input
        ref={field}
        aria-label={label}
        aria-invalid={error !== null}
        aria-describedby={error ? id : undefined}
        inputMode={/^(integer|number)$/.test(parameter.kind) ? 'decimal' : 'text'}
        spellcheck={false}
        autocomplete="off"
        readOnly={why !== null || busy.value}
        title={why ?? undefined}
        value={typed.value ?? value}
        onInput={(event) => {
          refusal.value = null;
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => event.key === 'Escape' && cancel()}
      />
      {dirty && (
        <>
          <button type="submit" class="button primary" disabled={error !== null || busy.value}>
            {busy.value ? 'Setting …' : 'Set'}
          </button>
          <button type="button" class="button quiet" onClick={cancel}>
            Cancel
          </button>
        </>
      )}
      {error && (
        <p class="editor-error" id={id} role="alert">
          <bdi>{error}</bdi>
        </p>
      )}
    </form>
  );
}
