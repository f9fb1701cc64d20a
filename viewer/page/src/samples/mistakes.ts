// SPDX-License-Identifier: Apache-2.0
import type { ConfusionMatrix } from '../protocol/types';

/** A class, and another class for which its samples were taken. */
export interface Mistake {
  right: string;
  predicted: string;
  count: number;
  /** The number of all samples of the right class. */
  total: number;
  /** The fraction of these samples that were mistaken. */
  share: number;
}

/** Returns the sums of the rows, which are the numbers of samples of each class. */
export function totals({ classes, counts }: ConfusionMatrix): number[] {
  return classes.map((_, right) => counts.slice(right * classes.length, (right + 1) * classes.length).reduce((sum, count) => sum + count, 0));
}

/** Returns the fraction of all samples that were classified correctly, or null if there are no samples. */
export function accuracy(matrix: ConfusionMatrix): number | null {
  const all = totals(matrix).reduce((sum, count) => sum + count, 0);
  const right = matrix.classes.reduce((sum, _, index) => sum + matrix.counts[index * matrix.classes.length + index]!, 0);
  return all > 0 ? right / all : null;
}

/** Returns the `most` most frequent mistakes, the most frequent first. */
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
