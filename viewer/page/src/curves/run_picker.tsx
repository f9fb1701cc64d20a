// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import { choose, chosen, colourOf, focus, show } from '../state/place';
import { runs } from '../state/session';
import { Search } from '../ui/parts';

/** A list in which the user chooses the runs to compare. */
export function RunPicker() {
  const search = useSignal('');
  const all = runs.value ?? [];
  const list = all.filter((one) => one.run.toLowerCase().includes(search.value.toLowerCase()));
  return (
    <>
      <h2>
        Runs <small>{chosen.value.length} of {all.length}</small>
      </h2>
      {all.length > 8 && <Search label="Search runs" value={search.value} onInput={(text) => (search.value = text)} />}
      <ul class="run-list">
        {list.map((one) => {
          const on = chosen.value.includes(one.run);
          const last = on && chosen.value.length === 1;
          return (
            <li key={one.run} class={focus.value === one.run ? 'focused' : ''}>
              <label>
                <input
                  type="checkbox"
                  checked={on}
                  disabled={last}
                  onChange={(event) => choose(one.run, event.currentTarget.checked)}
                  aria-label={`Compare ${one.run}`}
                  style={on ? { accentColor: colourOf(one.run) } : undefined}
                />
              </label>
              <button type="button" class="link-button" title={`Show ${one.run}`} onClick={() => show(one.run)}>
                <bdi>{one.run}</bdi>
              </button>
              <span class={`run-dot state-${one.state}`} title={one.state} />
            </li>
          );
        })}
      </ul>
    </>
  );
}
