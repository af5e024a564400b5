import type { CommaUse } from '../cells/classify';
import { show } from '../cells/errors';
import { bothReadings } from '../cells/parse-number';
import type { Decimal } from '../cells/types';
import { isCurrency } from '../cells/written-number';
import type { Settled } from './findings';
import type { TextReadings } from './text-readings';

/** The fields of one column of a text file, and what a comma in them can be. */
export interface FieldsOfColumn {
  fields: TextReadings;
  comma: CommaUse;
}

/**
 * A column that shows its decimal mark itself is read with it. One whose numbers could be read with either is read with
 * the mark that the other columns of the file have; where they have none, or both, nothing changes, but a warning says
 * how a point was taken beside ";".
 *
 * @param others the certain marks of all columns
 */
export function withMarkOf(
  others: ReadonlySet<Decimal>,
  name: string,
  settled: Settled,
  column: FieldsOfColumn | undefined,
): Settled {
  if (column === undefined || (settled.type !== 'text' && settled.type !== 'number')) {
    return settled;
  }
  const { fields, comma } = column;
  const { ownMark, unit } = fields;
  if (ownMark !== undefined && canHave(ownMark, comma)) {
    if (settled.type === 'text') {
      return { type: fields.isWhole ? 'integer' : 'number', decimal: ownMark, unit };
    }
    return fields.isGrouped ? { ...settled, decimal: ownMark } : settled;
  }
  if (fields.doubtfulMark === undefined) {
    return settled;
  }
  const { mark, example } = fields.doubtfulMark;
  const [known] = others;
  if (others.size === 1 && canHave(known!, comma)) {
    return { type: known === mark ? 'number' : 'integer', decimal: known, unit };
  }
  // Beside ";" a comma is the decimal mark; but money has cents, not three digits after it.
  if (settled.type === 'number' && (isCurrency(settled.unit) || (comma === 'decimal' && mark === '.'))) {
    const types = (type: string): string => JSON.stringify({ [name]: type });
    const [own, other] = mark === '.' ? ['point', 'comma'] : ['comma', 'point'];
    return {
      ...settled,
      warning: `Column "${name}" is read with a decimal ${own}, but ${show(example.value)} (row ${example.row + 1}) can mean ${bothReadings(String(example.value))}: where ${own}s group its thousands, set Column types ${types(`number-${other}`)}; ${types(`number-${own}`)} keeps it as it is without this warning.`,
    };
  }
  return settled;
}

/** With commas between fields, one inside a number is never taken for its decimal mark unasked. */
function canHave(mark: Decimal, comma: CommaUse): boolean {
  return comma !== 'none' || mark === '.';
}
