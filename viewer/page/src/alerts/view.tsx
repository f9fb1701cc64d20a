// SPDX-License-Identifier: Apache-2.0
import { count, moment, clock } from '../lib/format';
import type { Alert } from '../protocol/types';
import { usePush, useQuery } from '../state/hooks';
import { run, view } from '../state/place';
import { xAxis, zoom } from '../curves/axis';
import { Button, Empty, Failure } from '../ui/parts';
import { Icon } from '../ui/icons';
import { alertCount } from './count';

/** The view of the alerts of a run, newest first. */
export function Alerts() {
  const id = run.value?.run ?? null;
  const query = useAlerts(id);
  const list = [...(query.data ?? [])].sort((a, b) => b.time_ns - a.time_ns);
  return (
    <section class="view alerts" aria-label="Alerts">
      <div class="toolbar">
        <h1>Alerts</h1>
      </div>
      <div class="scroll" tabIndex={0}>
        {query.error && !query.data ? (
          <Failure error={query.error} again={query.again} />
        ) : !query.data ? (
          <Empty title="Asking for the alerts …" />
        ) : list.length === 0 ? (
          <Empty title="Nothing to worry about.">Here come values that are not finite, jumps and plateaus of the loss, slow ranks, dropped messages, and disks that are nearly full.</Empty>
        ) : (
          <ol class="alert-list">
            {list.map((alert, index) => (
              <li key={`${alert.time_ns} ${index}`} class={`alert ${alert.severity}`}>
                <Icon name="alerts" />
                <span class="alert-kind">
                  <bdi>{alert.kind}</bdi>
                </span>
                <span class="alert-text">
                  <bdi>{alert.text}</bdi>
                </span>
                <span class="alert-when" title={moment(alert.time_ns)}>
                  {alert.step !== null && <>step {count(alert.step)}, </>}
                  {clock(alert.time_ns).slice(0, 8)}
                </span>
                {alert.step !== null && <Button label="Show in the curves" quiet onPress={() => showAt(alert.step!)} />}
              </li>
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}

/** Keeps the number of alerts in the navigation up to date while another view is shown. */
export function AlertCounter({ run: id }: { run: string }) {
  useAlerts(id);
  return null;
}

function useAlerts(id: string | null) {
  const query = useQuery('alerts', id === null ? null : { run: id });
  usePush(id, 'alerts', (push) => query.set((old) => [...(old ?? []), ...push.alerts].slice(-1000)));
  alertCount(query.data as Alert[] | null);
  return query;
}

/** Opens the view of the curves, zoomed to the steps around `step`. */
function showAt(step: number): void {
  const total = run.value?.step ?? step;
  const room = Math.max(50, Math.min(total, 1e9) * 0.02);
  xAxis.value = 'step';
  view.value = 'curves';
  // The zoom is set after the view has appeared, because the view first shows the whole axis.
  requestAnimationFrame(() => setTimeout(() => (zoom.value = { from: step - room, to: step + room })));
}
