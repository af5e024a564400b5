import { valueAlong } from '../../linear/linear';
import type { Part } from '../../model/members';
import type { ForegroundRow } from '../shapley/foreground';

/**
 * Visits the terms of a linear model, before the model's weight is applied.
 *
 * @param visit receives what the column adds to an output for the foreground row, and for each background row in a
 * list that is reused
 */
export function eachLinearTerm(
  { tables }: Part & { kind: 'linear' },
  { bins, numbers, background }: ForegroundRow,
  visit: (column: number, output: number, own: number, others: Float64Array) => void,
): void {
  const { base, at, scores, lines } = tables;
  const width = base.length;
  const others = new Float64Array(background.rows);
  for (let line = 0; lines && line < lines.columns.length; line++) {
    const column = lines.columns[line];
    const values = background.numbers![column]!;
    const zOf = (value: number) => valueAlong(lines, line, value);
    for (let k = 0; k < width; k++) {
      const slope = lines.weights[line * width + k];
      for (let row = 0; row < others.length; row++) {
        others[row] = slope * zOf(values[row]);
      }
      visit(column, k, slope * zOf(numbers[column]), others);
    }
  }
  for (let column = 0; column < at.length; column++) {
    if (at[column] < 0) {
      continue;
    }
    for (let k = 0; k < width; k++) {
      const from = at[column] + k;
      for (let row = 0; row < others.length; row++) {
        others[row] = scores[from + background.columns[column][row] * width];
      }
      visit(column, k, scores[from + bins[column] * width], others);
    }
  }
}
