// SPDX-License-Identifier: Apache-2.0
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { value } from '../lib/format';
import { useQuery } from '../state/hooks';
import { chosen, colourOf } from '../state/place';
import { rowsOf, type Flat } from './compare';
import { Check, Empty, Search } from '../ui/parts';

const known = signal<ReadonlyMap<string, Flat>>(new Map());

function Asked({ run }: { run: string }) {
  const { data } = useQuery('hyperparameters', { run });
  useEffect(() => {
    if (data) known.value = new Map(known.value).set(run, data);
  }, [data]);
  return null;
}

/** A table of the hyperparameters of the chosen runs, side by side. */
export function Hyperparameters() {
  const search = useSignal('');
  const onlyDifferent = useSignal(false);
  const ids = chosen.value;
  const rows = rowsOf(ids.map((id) => known.value.get(id)));
  const shown = rows.filter((row) => (!onlyDifferent.value || row.differs) && row.name.toLowerCase().includes(search.value.toLowerCase()));
  const different = rows.filter((row) => row.differs).length;
  return (
    <div class="hyperparameters">
      {ids.map((id) => (
        <Asked key={id} run={id} />
      ))}
      <div class="toolbar sub">
        <Search label="Search hyperparameters" value={search.value} onInput={(text) => (search.value = text)} />
        {ids.length > 1 && (
          <>
            <Check label="Only differences" checked={onlyDifferent.value} onChange={(on) => (onlyDifferent.value = on)} />
            <span class="hint">{different === 0 ? 'The runs do not differ.' : `The runs differ in ${different} of ${rows.length}.`}</span>
          </>
        )}
        {ids.length === 1 && <span class="hint">Choose a second run at the left to compare them.</span>}
      </div>
      {shown.length === 0 ? (
        <Empty title={rows.length === 0 ? 'Nothing is known about the hyperparameters of this run.' : 'No hyperparameter matches.'} />
      ) : (
        <div class="table-frame">
          <table class="grid-table">
            <thead>
              <tr>
                <th scope="col">name</th>
                {ids.map((id) => (
                  <th scope="col" key={id}>
                    <span class="colour-dot" style={{ background: colourOf(id) }} /> <bdi>{id}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <tr key={row.name} class={row.differs ? 'differs' : ''}>
                  <th scope="row">
                    <bdi>{row.name}</bdi>
                  </th>
                  {row.values.map((one, index) => (
                    <td key={ids[index]} class={one === undefined ? 'faint' : ''}>
                      <bdi>{one === undefined ? 'not set' : value(one)}</bdi>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
