// SPDX-License-Identifier: Apache-2.0
import { run, show } from '../state/place';
import { connection, hello, runs } from '../state/session';
import { Button, StatePill } from '../ui/parts';
import { ThemeSwitch } from '../ui/theme';
import { Actions } from './actions';
import { Progress } from './progress';

/** The bar at the top: the run that is shown, its progress, and the buttons for it. */
export function Header({ onHelp }: { onHelp: () => void }) {
  const shown = run.value;
  return (
    <header class="top">
      <span class="brand" title={hello.value ? `Trainyard ${hello.value.trainyard}` : 'Trainyard'}>
        <img src="./icon.svg" alt="" width="22" height="22" />
        <span>Trainyard</span>
      </span>
      {shown && (
        <label class="run-select">
          <span class="visually-hidden">Run</span>
          <select value={shown.run} onChange={(event) => show(event.currentTarget.value)}>
            {(runs.value ?? []).map((one) => (
              <option key={one.run} value={one.run}>
                {one.run}
                {one.live ? '' : ` (${one.source === 'recording' ? 'recording' : one.state})`}
              </option>
            ))}
          </select>
        </label>
      )}
      {shown && <StatePill state={shown.state} />}
      {shown && <Progress key={shown.run} run={shown} />}
      <span class="spacer" />
      {shown?.live && <Actions run={shown} />}
      <LinkLight />
      <ThemeSwitch />
      <Button label="Keys" icon="help" iconOnly quiet title="Keys (?)" onPress={onHelp} />
    </header>
  );
}

function LinkLight() {
  const { kind } = connection.link.value;
  const text = kind === 'open' ? (hello.value?.role === 'watch' ? 'watching only' : 'connected') : kind === 'connecting' ? 'connecting' : 'not connected';
  return (
    <span class={`link-light ${kind}`} role="status" title={hello.value ? `Server: Trainyard ${hello.value.trainyard}` : undefined}>
      <i />
      <span>{text}</span>
    </span>
  );
}
