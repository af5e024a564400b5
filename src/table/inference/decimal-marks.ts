import type { CommaUse } from '../cells/classify';
import { show } from '../cells/errors';
import { bothReadings } from '../cells/parse-number';
import type { Decimal } from '../cells/types';
import { isCurrency } from '../cells/written-number';
import type { Settled, Sight } from './findings';

/** What one column of a text file says of the decimal mark of its numbers. */
export interface MarksOfColumn {
  certain: Decimal | undefined;
  /** Where 1.234 (or 1,234) could be either number. */
  doubtful: { mark: Decimal; example: Sight } | undefined;
  comma: CommaUse;
}

/**
 * A column whose numbers could be read with either decimal mark, read with the one that the other columns of the file
 * have. Where they have none, or both, nothing changes, but a warning says how a point was taken beside ";".
 *
 * @param others the certain marks of all columns
 */
export function withMarkOf(
  others: ReadonlySet<Decimal>,
  name: string,
  settled: Settled,
  marks: MarksOfColumn | undefined,
): Settled {
  if (marks?.doubtful === undefined || (settled.type !== 'text' && settled.type !== 'number')) {
    return settled;
  }
  const { mark, example } = marks.doubtful;
  const [known] = others;
  // With commas between fields, one inside a number is never taken for its decimal mark unasked.
  if (others.size === 1 && (marks.comma !== 'none' || known === '.')) {
    return { type: known === mark ? 'number' : 'integer', decimal: known, unit: settled.unit };
  }
  // Beside ";" a comma is the decimal mark; but money has cents, not three digits after it.
  if (
    settled.type === 'number' &&
    (isCurrency(settled.unit) || (marks.comma === 'decimal' && mark === '.'))
  ) {
    const types = (type: string): string => JSON.stringify({ [name]: type });
    const [own, other] = mark === '.' ? ['point', 'comma'] : ['comma', 'point'];
    return {
      ...settled,
      warning: `Column "${name}" is read with a decimal ${own}, but ${show(example.value)} (row ${example.row + 1}) can mean ${bothReadings(String(example.value))}: where ${own}s group its thousands, set Column types ${types(`number-${other}`)}; ${types(`number-${own}`)} keeps it as it is without this warning.`,
    };
  }
  return settled;
}
