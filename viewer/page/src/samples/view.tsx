// SPDX-License-Identifier: Apache-2.0
import { useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { count, percent } from '../lib/format';
import type { Sample, SampleResult } from '../protocol/types';
import { usePush } from '../state/hooks';
import { run } from '../state/place';
import { connection, era } from '../state/session';
import { Button, Check, Choice, Empty, Failure, Foreign, Search } from '../ui/parts';
import { Icon } from '../ui/icons';
import { useKeys } from '../ui/keys';
import { isBoolean, stored } from '../lib/stored';

const pageSize = 60;
const most = 1000;
const mistakes = stored<boolean>('only-mistakes', false, isBoolean);
const large = stored<boolean>('large-samples', false, isBoolean);

/** The view of what the model has produced: texts, and predictions with their images. */
export function Samples() {
  const id = run.value?.run ?? null;
  const { samples, error, complete, older, again } = useSamples(id);
  const search = useSignal('');
  useKeys('Samples', [{ key: '/', help: 'Search', run: () => document.getElementById('sample-search')?.focus() }]);
  const words = search.value.toLowerCase();
  const shown = samples?.filter((one) => (!mistakes.value || isMistake(one)) && (words === '' || textOf(one).toLowerCase().includes(words))) ?? [];
  const judged = samples?.some((one) => one.result) ?? false;
  return (
    <section class="view samples" aria-label="Samples">
      <div class="toolbar">
        <h1>Samples</h1>
        <Search id="sample-search" label="Search samples" value={search.value} onInput={(text) => (search.value = text)} />
        <Choice
          label="Size"
          value={large.value ? 'large' : 'small'}
          options={[
            ['small', 'Small'],
            ['large', 'Large'],
          ]}
          onChange={(size) => (large.value = size === 'large')}
        />
        {judged && <Check label="Only mistakes" checked={mistakes.value} onChange={(on) => (mistakes.value = on)} />}
        <span class="spacer" />
        <span class="hint">newest first</span>
      </div>
      <div class="scroll" tabIndex={0}>
        {error && !samples ? (
          <Failure error={error} again={again} />
        ) : !samples ? (
          <Empty title="Asking for the samples …" />
        ) : shown.length === 0 ? (
          samples.length > 0 ? (
            <Empty title={words === '' ? 'The model made no mistake in these samples.' : `No sample matches '${search.value}'.`} />
          ) : (
            <Empty title="No samples yet.">Set samples_per_validation of the accelerator host in the launch file. Predictions and generated texts of the strategy manager appear here, too.</Empty>
          )
        ) : (
          <div class={`sample-grid${large.value ? ' large' : ''}${shown.every((one) => one.result && isImage(one.image)) ? ' judged' : ''}`}>
            {shown.map((sample) => (
              <Card key={sample.number} sample={sample} />
            ))}
          </div>
        )}
        {samples && samples.length > 0 && !complete && (
          <p class="more">
            <Button label="Show older samples" onPress={older} />
          </p>
        )}
      </div>
    </section>
  );
}

function Card({ sample }: { sample: Sample }) {
  const image = isImage(sample.image) ? sample.image : null;
  return (
    <article class={`sample${image && !sample.text ? ' only-image' : ''}${isMistake(sample) ? ' mistake' : ''}`}>
      <header>
        <Foreign>{sample.title || `sample ${sample.number}`}</Foreign>
        <span class="step">step {count(sample.step)}</span>
      </header>
      {sample.result && <Verdict result={sample.result} />}
      {image && <img src={image} alt={sample.title || `Sample ${sample.number}`} loading="lazy" />}
      {sample.text && <pre tabIndex={0}>{sample.text}</pre>}
      {sample.tensors.length > 0 && (
        <footer>
          {sample.tensors.slice(0, 8).map((tensor, index) => (
            <code key={index}>
              {tensor.dtype}[{tensor.shape.join(' × ')}]
            </code>
          ))}
          {sample.tensors.length > 8 && <span class="hint">and {sample.tensors.length - 8} more</span>}
        </footer>
      )}
    </article>
  );
}

/** The class that the model predicted for the sample, and its right class. */
function Verdict({ result }: { result: SampleResult }) {
  const right = result.right === result.predicted;
  return (
    <p class={`verdict ${right ? 'right' : 'wrong'}`}>
      <Icon name={right ? 'check' : 'close'} />
      <Foreign>{result.predicted}</Foreign>
      <span class="share">{percent(result.probability)}</span>
      {!right && (
        <span>
          right: <Foreign>{result.right}</Foreign>
        </span>
      )}
    </p>
  );
}

const isMistake = (sample: Sample): boolean => sample.result !== null && sample.result !== undefined && sample.result.right !== sample.result.predicted;

const textOf = (sample: Sample): string =>
  `${sample.title}\n${sample.text}\nstep ${sample.step}\n${sample.result ? `${sample.result.predicted}\n${sample.result.right}` : ''}`;

/** Accepts only images that are contained in the message as data URLs, so that the page never fetches anything from
 * other servers. */
export const isImage = (text: string | null): text is string => text !== null && /^data:image\/(png|jpeg|gif|webp|bmp);base64,/.test(text);

function useSamples(id: string | null) {
  const [samples, setSamples] = useState<Sample[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [complete, setComplete] = useState(false);
  const [turn, again] = useState(0);
  const connected = era.value;
  const fetch = (before: number | null, isCurrent: () => boolean = () => true) => {
    if (id === null) return;
    connection.ask('samples', { run: id, before, limit: pageSize }).then(
      (page) => {
        if (!isCurrent()) return;
        setComplete(page.length < pageSize);
        setError(null);
        setSamples((old) => merged(before === null ? [] : (old ?? []), page));
      },
      (failure: Error) => isCurrent() && setError(failure.message),
    );
  };
  useEffect(() => {
    let current = true;
    setSamples(null);
    setError(null);
    if (connected > 0) fetch(null, () => current);
    return () => {
      current = false;
    };
  }, [id, connected, turn]);
  usePush(id, 'samples', (push) => setSamples((old) => merged(old ?? [], push.samples)));
  return { samples, error, complete, older: () => fetch(samples?.at(-1)?.number ?? null), again: () => again((old) => old + 1) };
}

/** Merges two lists of samples, without duplicates, newest first. */
export function merged(old: Sample[], more: Sample[]): Sample[] {
  const byNumber = new Map([...old, ...more].map((one) => [one.number, one]));
  return [...byNumber.values()].sort((a, b) => b.number - a.number).slice(0, most);
}
