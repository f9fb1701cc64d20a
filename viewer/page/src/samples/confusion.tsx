// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../lib/colours';
import { count, percent } from '../lib/format';
import type { ConfusionMatrix } from '../protocol/types';
import { usePush, useQuery } from '../state/hooks';
import { run } from '../state/place';
import { Choice, Empty, Failure, Foreign } from '../ui/parts';
import { accuracy, mistakes, totals } from './mistakes';

/** With more classes than this, the numbers in a matrix would be too small to read. */
const mostWithNumbers = 32;

/** The view of the confusion matrices: how often a classifier took one class for another. */
export function Confusion() {
  const id = run.value?.run ?? null;
  const split = useSignal('');
  // The index of the chosen step in the list of steps; null for the newest step.
  const chosen = useSignal<number | null>(null);
  useEffect(() => {
    split.value = '';
    chosen.value = null;
  }, [id]);
  const answer = useQuery('confusion', id === null ? null : { run: id, split: split.value, step: chosen.value });
  usePush(id, 'confusion', () => chosen.value === null && answer.again());
  const matrix = answer.data;
  const steps = matrix?.steps ?? [];
  return (
    <section class="view confusion" aria-label="Confusion">
      <div class="toolbar">
        <h1>Confusion</h1>
        {matrix && matrix.splits.length > 1 && (
          <Choice
            label="Split"
            value={matrix.split}
            options={matrix.splits.map((one) => [one, one] as const)}
            onChange={(value) => {
              split.value = value;
              chosen.value = null;
            }}
          />
        )}
        {matrix && steps.length > 1 && (
          <label class="steps">
            <span>step {count(matrix.step)}</span>
            <input
              type="range"
              min={0}
              max={steps.length - 1}
              value={steps.indexOf(matrix.step)}
              aria-label="Step"
              aria-valuetext={`step ${matrix.step}`}
              onInput={(event) => {
                const place = Number(event.currentTarget.value);
                chosen.value = place === steps.length - 1 ? null : steps[place]!;
              }}
            />
          </label>
        )}
        <span class="spacer" />
        {matrix && <span class="hint">{percent(accuracy(matrix))} right</span>}
      </div>
      <div class="scroll" tabIndex={0}>
        {matrix ? (
          <div class="confusion-content">
            {matrix.classes.length <= mostWithNumbers ? <Numbers matrix={matrix} /> : <Picture matrix={matrix} />}
            <Mistakes matrix={matrix} />
          </div>
        ) : answer.error ? (
          answer.error.includes('no confusion matrix') ? (
            <Empty title="No confusion matrix yet.">Set confusion_matrix = true of the accelerator host; every validation of a classifier then adds one.</Empty>
          ) : (
            <Failure error={answer.error} again={answer.again} />
          )
        ) : (
          <Empty title="Asking for the confusion matrix …" />
        )}
      </div>
    </section>
  );
}

function Numbers({ matrix }: { matrix: ConfusionMatrix }) {
  const rows = totals(matrix);
  const size = matrix.classes.length;
  return (
    <table class="matrix">
      <caption>rows: right class; columns: predicted class</caption>
      <thead>
        <tr>
          <td />
          {matrix.classes.map((name, index) => (
            <th key={index} scope="col">
              <Foreign>{name}</Foreign>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {matrix.classes.map((name, right) => (
          <tr key={right}>
            <th scope="row">
              <Foreign>{name}</Foreign>
            </th>
            {matrix.classes.map((other, predicted) => {
              const number = matrix.counts[right * size + predicted]!;
              const share = rows[right]! > 0 ? number / rows[right]! : 0;
              return (
                <td
                  key={predicted}
                  class={right === predicted ? 'right' : 'wrong'}
                  style={{ '--share': `${Math.round(50 * Math.sqrt(share))}%` }}
                  title={`${name} taken for ${other}: ${count(number)} of ${count(rows[right])} (${percent(share)})`}
                >
                  {number > 0 ? count(number) : ''}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Draws the matrix without numbers, for many classes. */
function Picture({ matrix }: { matrix: ConfusionMatrix }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = matrix.classes.length;
  const dark = theme.value === 'dark';
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    const style = getComputedStyle(canvas.current!);
    const rows = totals(matrix);
    context.clearRect(0, 0, size, size);
    matrix.counts.forEach((number, index) => {
      if (number === 0) return;
      const right = Math.floor(index / size);
      const predicted = index % size;
      context.fillStyle = style.getPropertyValue(right === predicted ? '--good' : '--bad');
      context.globalAlpha = Math.sqrt(number / rows[right]!);
      context.fillRect(predicted, right, 1, 1);
    });
  }, [matrix, dark]);
  const name = (event: PointerEvent & { currentTarget: HTMLCanvasElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const right = Math.floor(((event.clientY - box.top) / box.height) * size);
    const predicted = Math.floor(((event.clientX - box.left) / box.width) * size);
    const number = matrix.counts[right * size + predicted];
    event.currentTarget.title = number === undefined ? '' : `${matrix.classes[right]} taken for ${matrix.classes[predicted]}: ${count(number)}`;
  };
  return <canvas ref={canvas} class="matrix-picture" width={size} height={size} role="img" aria-label={`Confusion of ${size} classes; the most frequent mistakes are listed`} onPointerMove={name} />;
}

function Mistakes({ matrix }: { matrix: ConfusionMatrix }) {
  const list = mistakes(matrix, 12);
  return (
    <div class="mistakes">
      <h2>Most frequent mistakes</h2>
      {list.length === 0 ? (
        <p class="hint">There are none.</p>
      ) : (
        <ol>
          {list.map((one) => (
            <li key={`${one.right} ${one.predicted}`}>
              <Foreign>{one.right}</Foreign> taken for <Foreign>{one.predicted}</Foreign>
              <span class="hint">
                {count(one.count)} of {count(one.total)}, {percent(one.share)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
