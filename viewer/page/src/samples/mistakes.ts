// SPDX-License-Identifier: Apache-2.0
import type { ConfusionMatrix } from '../protocol/types';

/** One pair of classes that were confused. */
export interface Mistake {
  right: string;
  predicted: string;
  count: number;
  /** The number of samples of the right class. */
  total: number;
  /** The share of the samples of the right class. */
  share: number;
}

/** The sums of the rows: how many samples there are of each class. */
export function totals({ classes, counts }: ConfusionMatrix): number[] {
  return classes.map((_, right) => counts.slice(right * classes.length, (right + 1) * classes.length).reduce((sum, count) => sum + count, 0));
}

/** The share of all samples whose class was predicted; null if there are none. */
export function accuracy(matrix: ConfusionMatrix): number | null {
  const all = totals(matrix).reduce((sum, count) => sum + count, 0);
  const right = matrix.classes.reduce((sum, _, index) => sum + matrix.counts[index * matrix.classes.length + index]!, 0);
  return all > 0 ? right / all : null;
}

/** The most frequent mistakes, the most frequent first. */
export function mistakes(matrix: ConfusionMatrix, most: number): Mistake[] {
  const size = matrix.classes.length;
  const rows = totals(matrix);
  const list: Mistake[] = [];
  matrix.counts.forEach((count, index) => {
    const right = Math.floor(index / size);
    const predicted = index % size;
    if (count > 0 && right !== predicted) list.push({ right: matrix.classes[right]!, predicted: matrix.classes[predicted]!, count, total: rows[right]!, share: count / rows[right]! });
  });
  return list.sort((a, b) => b.count - a.count).slice(0, most);
}
