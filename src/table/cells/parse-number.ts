import {
  ABSENT,
  classifyPlain,
  COMMA_NUMBER,
  GROUP_SPACES,
  isAbsent,
  NUMERIC,
  PLAIN,
  POINT_NUMBER,
  READS_COMMA,
  READS_POINT,
  WHOLE,
  WITH_COMMA,
  WITH_POINT,
} from './classify';
import { type CellReading, type Decimal, show } from './types';
import { writtenNumber } from './written-number';

/** What tells how the texts of a number column are read. */
export type NumberReading = Pick<CellReading, 'decimal' | 'unit'>;

/**
 * The number in a text of a number column: NaN where it is missing, undefined where there is none.
 *
 * @param comma whether a number may have a decimal comma
 * @param grouped whether a comma may group thousands as well
 */
export function readNumber(
  text: string,
  { decimal, unit }: NumberReading,
  comma: boolean,
  grouped: boolean,
): number | undefined {
  const value = unit === undefined ? readPlain(text, decimal, comma, grouped) : absent(text);
  if (value !== undefined) {
    return value;
  }
  // Read the slow way only where the other one is of no use.
  const written = writtenNumber(text);
  return written !== undefined && written.unit === (unit ?? '')
    ? readPlain(written.text, decimal, comma, grouped)
    : undefined;
}

function readPlain(
  text: string,
  decimal: Decimal | undefined,
  comma: boolean,
  grouped: boolean,
): number | undefined {
  if (decimal !== undefined) {
    return parseWithDecimal(text, decimal);
  }
  const value = parseNumber(text, comma && !grouped);
  return value === undefined && grouped ? parseWithAnyDecimal(text) : value;
}

function absent(text: string): number | undefined {
  return text === '' || isAbsent(text) ? NaN : undefined;
}

/** The number in a field, NaN when it is missing there, undefined when it is not a number. */
export function parseNumber(text: string, comma: boolean): number | undefined {
  if (text === '') {
    return NaN;
  }
  const kinds = classifyPlain(text, comma ? 'decimal' : 'none');
  if ((kinds & ABSENT) !== 0) {
    return NaN;
  }
  if ((kinds & POINT_NUMBER) !== 0) {
    const value = Number(text);
    return Number.isNaN(value) ? infinityOrGrouped(text) : value;
  }
  return (kinds & COMMA_NUMBER) !== 0 ? fromComma(text) : undefined;
}

/** The number in text with a decimal comma, whose points or spaces may group thousands. */
function fromComma(text: string): number {
  const value = Number(text.replace(',', '.'));
  return Number.isNaN(value) ? Number(withoutGroups(text, '.').replace(',', '.')) : value;
}

function withoutGroups(text: string, mark: string): string {
  return text.trim().replaceAll(mark, '').replace(GROUP_SPACES, '');
}

/** What JavaScript does not read: "inf" and its like, and grouped thousands. */
function infinityOrGrouped(text: string): number {
  const value = Number(withoutGroups(text, ','));
  return !Number.isNaN(value) ? value : text.includes('-') ? -Infinity : Infinity;
}

/** The 64-bit integer in a field, null when it is missing there, undefined when it is not one. */
export function parseBigint(text: string): bigint | null | undefined {
  if (text === '') {
    return null;
  }
  const kinds = classifyPlain(text);
  if ((kinds & ABSENT) !== 0) {
    return null;
  }
  return (kinds & WHOLE) !== 0 ? BigInt(text.trim().replace('+', '')) : undefined;
}

/** The number in text with this decimal mark, whose other mark may group thousands; undefined where it is not one. */
function parseGrouped(text: string, decimal: Decimal): number | undefined {
  const trimmed = text.trim().replace(GROUP_SPACES, decimal === ',' ? '.' : ',');
  if (decimal === ',') {
    return WITH_COMMA.test(trimmed) ? Number(trimmed.replaceAll('.', '').replace(',', '.')) : undefined;
  }
  return WITH_POINT.test(trimmed) ? Number(trimmed.replaceAll(',', '')) : undefined;
}

/** The number in a cell of a column with this decimal mark, NaN when it is missing there, undefined when it is not one. */
function parseWithDecimal(text: string, decimal: Decimal): number | undefined {
  const value = parseGrouped(text, decimal);
  if (value !== undefined) {
    return value;
  }
  const plain = parseNumber(text, false);
  // 1.5 is not a number with a decimal comma, so 1.500 beside it would be read as something else.
  return decimal === '.' || plain === undefined || !Number.isFinite(plain) ? plain : undefined;
}

/** The number in text whose decimal mark is not known; undefined where it is not one, or could be two. */
export function parseWithAnyDecimal(text: string): number | undefined {
  const decimal = findDecimal(classifyPlain(text));
  return decimal === undefined ? undefined : parseGrouped(text, decimal);
}

/** The decimal mark that text of these kinds must have; undefined where it needs none, or could have both. */
export function findDecimal(kinds: number): Decimal | undefined {
  const mark = kinds & (PLAIN | READS_POINT | READS_COMMA);
  return mark === READS_COMMA ? ',' : mark === READS_POINT ? '.' : undefined;
}

/** "1.234 or 1234": what a number means with either decimal mark. */
export function bothReadings(cell: string): string {
  const text = writtenNumber(cell)?.text ?? cell;
  return `${parseGrouped(text, ',')} or ${parseGrouped(text, '.')}`;
}

/** Why text is not a number of a column, and what would be one. */
export function whyNotNumber(text: string, { decimal, unit }: Pick<CellReading, 'decimal' | 'unit'>): string {
  const written = writtenNumber(text);
  if (written !== undefined && written.unit !== (unit ?? '')) {
    const found = written.unit === '' ? 'no unit' : `the unit ${show(written.unit)}`;
    return `${show(text)} has ${found}, and the numbers of this column have ${unit === undefined ? 'none' : show(unit)}. Give a number, or the same unit.`;
  }
  const kinds = classifyPlain(text);
  if (decimal === undefined && (kinds & READS_COMMA) !== 0 && (kinds & READS_POINT) !== 0) {
    return `${show(text)} can mean ${bothReadings(text)}. Set its type in Column types to number-comma (decimal comma) or number-point (decimal point), or give it as a number.`;
  }
  if ((kinds & NUMERIC) !== 0) {
    return decimal === ','
      ? `${show(text)} is not a number with a decimal comma, and the text of this column had one in the train set.`
      : `${show(text)} is not a number as it is written here. Give it as a number, or with a decimal point and without grouping.`;
  }
  return `${show(text)} is not a number, and this column holds numbers.`;
}
