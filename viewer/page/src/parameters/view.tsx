// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import { count, moment, clock, value } from '../lib/format';
import { isBoolean, stored } from '../lib/stored';
import type { Change, ComponentParameters, Parameter } from '../protocol/types';
import { usePush, useQuery } from '../state/hooks';
import { run } from '../state/place';
import { Check, Empty, Failure, Foreign, Search } from '../ui/parts';
import { useKeys } from '../ui/keys';
import { Editor } from './editor';

const onlySettable = stored<boolean>('only-settable', true, isBoolean);

/** The view of the parameters of all components, with the changes that were made and fields for further changes. */
export function Parameters() {
  const id = run.value?.run ?? null;
  const live = run.value?.live === true;
  const parameters = useQuery('parameters', id === null || !live ? null : { run: id });
  const changes = useQuery('changes', id === null ? null : { run: id });
  const search = useSignal('');
  usePush(id, 'parameters', ({ change }) => {
    parameters.set((list) => list && replaced(list, change.component, change.name, { value: change.to }));
    changes.set((list) => (list && !list.some((one) => same(one, change)) ? [...list, change] : list));
  });
  useKeys('Parameters', [
    { key: '/', help: 'Search for a parameter', run: () => document.getElementById('parameter-search')?.focus() },
    { key: 'o', help: 'Only parameters that can be changed, or all', run: () => (onlySettable.value = !onlySettable.value) },
  ]);
  const shown = parameters.data && matching(parameters.data, search.value, onlySettable.value);
  return (
    <section class="view parameters" aria-label="Parameters">
      <div class="toolbar">
        <h1>Parameters</h1>
        <Search id="parameter-search" label="Search parameters" value={search.value} onInput={(text) => (search.value = text)} />
        <Check label="Only those that can be changed now" checked={onlySettable.value} onChange={(on) => (onlySettable.value = on)} />
      </div>
      <div class="parameters-body">
        <div class="scroll" tabIndex={0}>
          {!live ? (
            <Empty title="The run is over, so there is nothing to set.">What it was told to do is in the view Curves, below Hyperparameters.</Empty>
          ) : parameters.error && !parameters.data ? (
            <Failure error={parameters.error} again={parameters.again} />
          ) : !shown ? (
            <Empty title="Asking for the parameters …" />
          ) : shown.length === 0 ? (
            <Empty title={parameters.data!.length === 0 ? 'This run has no components now, so there is nothing to set.' : 'No parameter matches.'} />
          ) : (
            shown.map((component) => (
              <Group
                key={component.component}
                component={component}
                run={id!}
                onSet={(parameter) => parameters.set((list) => list && replaced(list, component.component, parameter.name, parameter))}
              />
            ))
          )}
        </div>
        <History changes={changes.data} />
      </div>
    </section>
  );
}

function Group({ component, run: id, onSet }: { component: ComponentParameters; run: string; onSet: (parameter: Parameter) => void }) {
  return (
    <section class="parameter-group">
      <h2>
        <Foreign>{component.component}</Foreign>
      </h2>
      <div class="parameter-rows">
        {component.parameters.map((parameter) => (
          <div class="parameter" key={parameter.name}>
            <div class="parameter-name">
              <Foreign>{parameter.name}</Foreign>
              {parameter.unit && <span class="unit">{parameter.unit}</span>}
            </div>
            <div class="parameter-value">
              {parameter.settable ? <Editor run={id} component={component.component} parameter={parameter} onSet={onSet} /> : <code><Foreign>{value(parameter.value)}</Foreign></code>}
            </div>
            <div class="parameter-help">
              <bdi>{parameter.help}</bdi>
              <span class="allowed">
                <bdi>{parameter.allowed}</bdi>
              </span>
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

function History({ changes }: { changes: Change[] | null }) {
  const list = [...(changes ?? [])].sort((a, b) => b.time_ns - a.time_ns);
  return (
    <aside class="history" aria-label="Changes">
      <h2>Changes</h2>
      {list.length === 0 ? (
        <p class="hint">Nothing has been changed in a viewer since the run began.</p>
      ) : (
        <ol>
          {list.map((change, index) => (
            <li key={`${change.time_ns} ${index}`}>
              <span class="change-name">
                <Foreign>{isAction(change) ? (actionNames[change.name] ?? change.name) : `${change.component}.${change.name}`}</Foreign>
              </span>
              {!isAction(change) && (
                <span class="change-values">
                  <bdi class="old">{value(change.from)}</bdi> → <bdi class="new">{value(change.to)}</bdi>
                </span>
              )}
              <small title={moment(change.time_ns)}>
                {change.step !== null && `step ${count(change.step)}, `}
                {clock(change.time_ns).slice(0, 8)}, <bdi>{change.who}</bdi>
              </small>
            </li>
          ))}
        </ol>
      )}
    </aside>
  );
}

const isAction = (change: Change): boolean => change.from === null && change.to === null;

const actionNames: Record<string, string> = { pause: 'Pause', go_on: 'Resume', checkpoint: 'Checkpoint', validate: 'Validate', stop: 'Stop' };

function matching(list: ComponentParameters[], search: string, settableOnly: boolean): ComponentParameters[] {
  const word = search.toLowerCase();
  return list
    .map(({ component, parameters }) => ({
      component,
      parameters: parameters.filter((one) => (!settableOnly || one.settable) && `${component}.${one.name} ${one.help}`.toLowerCase().includes(word)),
    }))
    .filter((one) => one.parameters.length > 0);
}

const same = (a: Change, b: Change): boolean => a.time_ns === b.time_ns && a.component === b.component && a.name === b.name;

function replaced(list: ComponentParameters[], component: string, name: string, by: Partial<Parameter>): ComponentParameters[] {
  return list.map((one) =>
    one.component === component ? { component, parameters: one.parameters.map((old) => (old.name === name ? { ...old, ...by } : old)) } : one,
  );
}
