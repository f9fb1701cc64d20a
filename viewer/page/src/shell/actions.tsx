// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import type { Action, Run } from '../protocol/types';
import { connection, whyNoControl } from '../state/session';
import { Confirm } from '../ui/dialog';
import { notify } from '../ui/notices';
import { Button } from '../ui/parts';
import { useKeys } from '../ui/keys';

const told: Record<Action, string> = {
  checkpoint: 'A checkpoint was requested.',
  validate: 'A validation was requested.',
  pause: 'The run pauses after the current step.',
  go_on: 'The run goes on.',
  stop: 'The run stops after the current step.',
};

/** The buttons for a running launch, such as those that pause it or stop it. */
export function Actions({ run }: { run: Run }) {
  const stopping = useSignal(false);
  const busy = useSignal<Action | null>(null);
  const why = whyNoControl.value ?? (run.state === 'starting' ? 'The run is still starting.' : null);
  const paused = run.state === 'paused';

  const act = async (action: Action) => {
    if (why || busy.value) return;
    busy.value = action;
    try {
      const answer = await connection.ask('act', { run: run.run, action });
      notify((answer as { text?: string } | null)?.text || told[action]);
    } catch (failure) {
      notify((failure as Error).message, 'bad');
    } finally {
      busy.value = null;
    }
  };
  const confirm = () => {
    if (!why) stopping.value = true;
  };
  useKeys('Run', [
    { key: 'P', help: 'Pause, or go on', run: () => void act(paused ? 'go_on' : 'pause') },
    { key: 'C', help: 'Save a checkpoint', run: () => void act('checkpoint') },
    { key: 'V', help: 'Validate', run: () => void act('validate') },
    { key: 'S', help: 'Stop the run', run: confirm },
  ]);
  return (
    <div class="actions" role="group" aria-label="Actions">
      <Button label={paused ? 'Resume' : 'Pause'} icon={paused ? 'play' : 'pause'} why={why} title={paused ? 'Go on with the training (Shift P)' : 'Pause after the current step (Shift P)'} onPress={() => void act(paused ? 'go_on' : 'pause')} />
      <Button label="Validate" icon="check" why={why} title="Validate now (Shift V)" onPress={() => void act('validate')} />
      <Button label="Checkpoint" icon="save" why={why} title="Save a checkpoint now (Shift C)" onPress={() => void act('checkpoint')} />
      <Button label="Stop" icon="stop" kind="danger" why={why} title="Stop the run (Shift S)" onPress={confirm} />
      {stopping.value && (
        <Confirm
          title={`Stop ${run.run}?`}
          text="The run finishes its current step and ends. It can be resumed later from its last checkpoint."
          yes="Stop the run"
          onYes={() => void act('stop')}
          onClose={() => (stopping.value = false)}
        />
      )}
    </div>
  );
}
