// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { count, duration, short } from '../lib/format';
import type { Run } from '../protocol/types';

interface Mark {
  step: number;
  at: number;
}

const rateWindow = 30_000;

/** Shows the progress of a run, its speed, and the remaining time at this speed. */
export function Progress({ run }: { run: Run }) {
  const rate = useRate(run);
  const { step, total_steps: total } = run;
  if (step === null) return null;
  const share = total ? Math.min(1, step / total) : null;
  const left = rate && total ? (total - step) / rate : null;
  return (
    <span class="progress">
      {share !== null && (
        <span class="progress-bar" role="progressbar" aria-label="Progress" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)}>
          <i style={{ width: `${share * 100}%` }} />
        </span>
      )}
      <span class="progress-text">
        step <b>{count(step)}</b>
        {total ? <> of {short(total)}</> : null}
      </span>
      {run.live && rate !== null && rate > 0 && (
        <span class="progress-rate">
          {short(rate)} steps/s{left !== null && left > 0 && <>, {duration(left)} left</>}
        </span>
      )}
    </span>
  );
}

/** A hook that returns the steps per second over the last half minute, or null if the run makes no progress. */
function useRate(run: Run): number | null {
  const marks = useRef<Mark[]>([]);
  const [rate, setRate] = useState<number | null>(null);
  useEffect(() => {
    const now = Date.now();
    if (run.state !== 'running' || run.step === null) {
      marks.current = [];
      setRate(null);
      return;
    }
    marks.current = [...marks.current.filter((mark) => now - mark.at < rateWindow), { step: run.step, at: now }];
    const first = marks.current[0]!;
    if (now - first.at >= 1500) setRate(((run.step - first.step) / (now - first.at)) * 1000);
  }, [run.step, run.state]);
  return rate;
}
