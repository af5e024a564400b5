import { valueAlong } from '../../linear/linear';
import type { Part } from '../../model/members';
import type { Compared } from '../shapley/compared';

/**
 * Each column's term of a linear model, without the model's weight.
 *
 * @param visit is given what the term adds to an output for the row, and, per row of the background, for that one; the
 * list is used again
 */
export function eachLinearTerm(
  { tables }: Part & { kind: 'linear' },
  { bins, numbers, background }: Compared,
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
