// SPDX-License-Identifier: Apache-2.0
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { short } from '../lib/format';
import { isTexts, oneOf, stored } from '../lib/stored';
import { chosen } from '../state/place';
import { Button, Check, Choice, Empty, Search } from '../ui/parts';
import { useKeys } from '../ui/keys';
import { logScale, smoothing, xAxis, zoom } from './axis';
import { Card, cardId, enlarged, pinnable } from './card';
import { cardsOf, type CardInfo } from './cards';
import { catalogue, Catalogued } from './catalogue';
import { Hyperparameters } from './hyperparameters';
import { RunPicker } from './run_picker';

const pinned = stored<string[]>('pinned', [], isTexts);
const part = stored<'curves' | 'hyperparameters'>('curves-part', 'curves', oneOf('curves', 'hyperparameters'));

pinnable.is = (name) => pinned.value.includes(name);
pinnable.toggle = (name) => {
  pinned.value = pinnable.is(name) ? pinned.value.filter((one) => one !== name) : [...pinned.value, name];
};

/** The view of the curves and the hyperparameters of the chosen runs. */
export function Curves() {
  const search = useSignal('');
  const all = useComputed(() => cardsOf(catalogue.value, chosen.value, pinned.value));
  const shown = useComputed(() => matching(all.value, search.value));
  const several = chosen.value.length > 1;
  useEffect(() => {
    zoom.value = null;
    return () => void (enlarged.value = null);
  }, [xAxis.value]);
  useKeys('Curves', [
    { key: '0', help: 'Show the whole x axis', run: () => (zoom.value = null) },
    { key: 'x', help: 'Next x axis: step, time, samples', run: () => (xAxis.value = { step: 'time', time: 'samples', samples: 'step' }[xAxis.value] as typeof xAxis.value) },
    { key: 'y', help: 'Logarithmic or linear y axis', run: () => (logScale.value = !logScale.value) },
    { key: '/', help: 'Search for a series', run: () => document.getElementById('series-search')?.focus() },
    { key: 'h', help: 'Curves or hyperparameters', run: () => (part.value = part.value === 'curves' ? 'hyperparameters' : 'curves') },
    { key: 'Escape', help: 'Back to all cards, or to the whole x axis', run: () => (enlarged.value ? (enlarged.value = null) : (zoom.value = null)) },
  ]);
  const big = enlarged.value !== null ? all.value.find((card) => card.name === enlarged.value) : undefined;
  return (
    <section class="view curves" aria-label="Curves">
      {chosen.value.map((run) => (
        <Catalogued key={run} run={run} />
      ))}
      <div class="toolbar">
        <h1>Curves</h1>
        <Choice
          label="Part"
          value={part.value}
          options={[
            ['curves', 'Curves'],
            ['hyperparameters', 'Hyperparameters'],
          ]}
          onChange={(value) => (part.value = value)}
        />
        {part.value === 'curves' && <Controls />}
      </div>
      <div class="curves-body">
        <aside class="sidebar" aria-label="Runs and series">
          <RunPicker />
          <h2>
            Series <small>{short(all.value.length)}</small>
          </h2>
          <Search id="series-search" label="Search series" value={search.value} onInput={(text) => (search.value = text)} />
          <ul class="series-list">
            {shown.value.map((card) => (
              <li key={card.name}>
                <button type="button" class="link-button" title={card.name} onClick={() => showCard(card.name)}>
                  <bdi>{card.name}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </aside>
        {part.value === 'hyperparameters' ? (
          <Hyperparameters />
        ) : big ? (
          <div class="big-card">
            <Card key={big.name} card={big} several={several} big />
          </div>
        ) : (
          <Cards cards={shown.value} several={several} searched={search.value} />
        )}
      </div>
    </section>
  );
}

function Controls() {
  return (
    <>
      <Choice
        label="X axis"
        value={xAxis.value}
        options={[
          ['step', 'Step'],
          ['time', 'Time'],
          ['samples', 'Samples'],
        ]}
        onChange={(value) => (xAxis.value = value)}
      />
      <label class="slider">
        <span>Smoothing</span>
        <input
          type="range"
          min="0"
          max="100"
          step="1"
          value={position(smoothing.value)}
          onInput={(event) => (smoothing.value = weight(Number(event.currentTarget.value)))}
        />
        <output>{smoothing.value.toFixed(smoothing.value > 0.99 ? 3 : 2)}</output>
      </label>
      <Check label="Log scale" checked={logScale.value} onChange={(on) => (logScale.value = on)} />
      <span class="spacer" />
      <span class="hint wide">Drag to zoom, Shift-drag to pan, Ctrl-wheel to zoom, double-click to reset</span>
      {zoom.value && <Button label="Reset zoom" onPress={() => (zoom.value = null)} />}
    </>
  );
}

// The scale of the slider is logarithmic in 1 - weight and ends at the weight 0.999, so that equal distances multiply
// the number of averaged values by the same factor.
const weight = (at: number): number => (at === 0 ? 0 : Math.round((1 - 10 ** ((-3 * at) / 100)) * 1000) / 1000);
const position = (smooth: number): number => Math.round((-100 / 3) * Math.log10(1 - smooth));

function Cards({ cards, several, searched }: { cards: CardInfo[]; several: boolean; searched: string }) {
  if (cards.length === 0) {
    return searched ? (
      <Empty title={`No series matches '${searched}'.`} />
    ) : (
      <Empty title="No curves yet.">Curves begin when the run reports its first metrics.</Empty>
    );
  }
  return (
    <div class={`cards${cards.length <= 6 ? ' few' : ''}`}>
      {cards.map((card) => (
        <Card key={card.name} card={card} several={several} />
      ))}
    </div>
  );
}

/** Returns the cards whose names contain every word of the search. */
function matching(cards: CardInfo[], search: string): CardInfo[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? cards : cards.filter((card) => words.every((word) => card.name.toLowerCase().includes(word)));
}

function showCard(name: string): void {
  if (enlarged.value !== null) {
    enlarged.value = name;
    return;
  }
  const card = document.getElementById(cardId(name));
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  card?.scrollIntoView({ behavior: calm ? 'auto' : 'smooth', block: 'center' });
  card?.focus({ preventScroll: true });
}
