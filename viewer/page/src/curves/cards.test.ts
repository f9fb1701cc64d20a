// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { cardsOf } from './cards';

test('The stages of all runs share the card of their name; pinned cards come first, then the loss.', () => {
  const series = (stage: string, name: string) => ({ stage, name, rows: 1, last: 0, last_step: 1 });
  const catalogue = new Map([
    ['a', [series('validate', 'loss'), series('train', 'loss'), series('train', 'norm/10'), series('train', 'norm/9')]],
    ['b', [series('train', 'loss'), series('train', 'alpha')]],
  ]);
  const cards = cardsOf(catalogue, ['a', 'b'], ['norm/10']);
  expect(cards.map((card) => card.name)).toEqual(['norm/10', 'loss', 'alpha', 'norm/9']);
  expect(cards[1]!.sources.map(({ run, series: { stage } }) => `${run} ${stage}`)).toEqual(['a train', 'a validate', 'b train']);
});
