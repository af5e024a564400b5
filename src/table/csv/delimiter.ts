/* Which sign parts the fields of a text, and which quotes they stand in. */

import { CsvParser } from './parser';
import { type CsvForm, isNumberText, type Quote, TableRows } from './table-rows';

const LINE_END = /[\r\n]/;
const WHOLE_LINE_END = /\r\n|\n|\r/;

export const DELIMITERS = [',', ';', '\t', '|'];
const SAMPLE_ROWS = 50;

/**
 * The delimiter that gives the first rows an equal number of fields, the most if several do; failing that, the
 * one that splits the header into the most fields.
 */
export function findDelimiter(head: string, last: boolean): string {
  let best = { delimiter: ',', even: false, fields: 1 };
  const [first] = head.split(LINE_END, 1);
  for (const delimiter of DELIMITERS) {
    const { even, fields } = tryDelimiter(head, delimiter, last);
    if (even && fields > 1 && delimiter !== ',' && first!.split(delimiter).every(isDecimal)) {
      // Numbers with decimal commas, and no header: a comma parts more fields.
      return delimiter;
    }
    if (fields > 1 && (even === best.even ? fields > best.fields : even)) {
      best = { delimiter, even, fields };
    }
  }
  return best.fields === 1 && isSpaced(head, last) ? ' ' : best.delimiter;
}

const isDecimal = (field: string): boolean => /^\s*[+-]?\d+,\d+\s*$/.test(field);

/**
 * The mark of a comment in front of names that spaces part, as gnuplot and `numpy.savetxt` have them, where all lines are
 * rows without it; empty for any other text.
 */
export function headerMark(text: string, last: boolean): string {
  const mark = /^[#%][ \t]+(?=[\p{L}_])/u.exec(text)?.[0] ?? '';
  const [first] = text.split(LINE_END, 1);
  const isOther =
    mark === '' || DELIMITERS.some((delimiter) => first!.slice(mark.length).includes(delimiter));
  return isOther || !isSpaced(text.slice(mark.length), last) ? '' : mark;
}

/** Numbers that a space divides in groups of three. */
const GROUP = /^\d{3}(?:[.,]\d+)?$/;

/**
 * Whether fields are parted by spaces, as R writes tables: all lines have as many, and names in quotes or numbers show
 * that this is no text of several words.
 */
function isSpaced(head: string, last: boolean): boolean {
  const isNamed = hasRowNames(head, { delimiter: ' ' }, last);
  const parser = new CsvParser(' ', new TableRows({ delimiter: ' ', hasRowNames: isNamed, isStrict: true }));
  try {
    parser.push(...takeSample(head, last));
  } catch {
    return false;
  }
  const { rows, columns } = parser.take();
  if (rows === 0 || columns.length < 2) {
    return false;
  }
  if (head.trimStart().startsWith('"')) {
    return true;
  }
  const areNumbers = columns.map((fields) => fields.every((field) => field === 'NA' || isNumberText(field)));
  return columns.length > 2
    ? areNumbers.slice(isNamed ? 1 : 0).includes(true)
    : !isNamed && areNumbers.every(Boolean) && !columns[1]!.every((field) => GROUP.test(field));
}

export function tryDelimiter(
  head: string,
  delimiter: string,
  last: boolean,
): { even: boolean; fields: number } {
  const parser = new CsvParser(delimiter, new TableRows({ delimiter, isStrict: true }));
  try {
    parser.push(...takeSample(head, last));
    return { even: true, fields: parser.names?.length ?? 1 };
  } catch {
    return { even: false, fields: parser.names?.length ?? 1 };
  }
}

/** The first rows of a text, and whether they are all of it. */
export function takeSample(head: string, last: boolean): [text: string, last: boolean] {
  const lines = head.split('\n', SAMPLE_ROWS + 1);
  const whole = last && lines.length <= SAMPLE_ROWS;
  return [lines.slice(0, whole ? lines.length : SAMPLE_ROWS).join('\n'), whole];
}

/** Whether all rows have one field more than the header, which names them, as R writes tables. */
export function hasRowNames(head: string, { delimiter, quote }: CsvForm, last: boolean): boolean {
  const table = new TableRows({ delimiter, hasRowNames: true, isStrict: true });
  const parser = new CsvParser(delimiter, table, quote);
  try {
    parser.push(...takeSample(head, last));
  } catch {
    return false;
  }
  const { rows, columns } = parser.take();
  const [names, second] = columns;
  // Spaces follow the commas of a sentence, and an empty field at the end of each row is none.
  return (
    rows > (delimiter === ' ' ? 0 : 1) &&
    columns.length === table.width &&
    new Set(names).size === rows &&
    !second!.some((field) => field.startsWith(' ')) &&
    !columns.at(-1)!.every((field) => field.trim() === '')
  );
}

export const SINGLE: Quote = "'";
const SINGLE_QUOTED = /^'[^']*'(?:([,;\t|])'[^']*'(?:\1'[^']*')*)?\s*$/;

/**
 * The delimiter of a header whose names all stand in single quotes; undefined for any other. Of one column, its cells have
 * to stand in them too.
 */
export function quotedHeader(text: string, given: string | undefined): string | undefined {
  const [first = '', second = ''] = text.replace(/^\s+/, '').split(WHOLE_LINE_END, 2);
  const header = SINGLE_QUOTED.exec(first);
  if (header === null || (header[1] === undefined && !SINGLE_QUOTED.test(second))) {
    return undefined;
  }
  const delimiter = header[1] ?? given ?? ',';
  return given === undefined || given === delimiter ? delimiter : undefined;
}

/**
 * The delimiter with which single quotes give all rows as many fields as the header has, where some of them hold the
 * delimiter: of a text that has no other reading.
 */
export function quotedCells(text: string, isAll: boolean, given: string | undefined): string | undefined {
  const lines = text.split(WHOLE_LINE_END, SAMPLE_ROWS + 1);
  if (!isAll || lines.length > SAMPLE_ROWS) {
    lines.pop();
  }
  return (given === undefined ? DELIMITERS : [given]).find((delimiter) => {
    const parser = new CsvParser(delimiter, new TableRows({ delimiter, isStrict: true }), SINGLE);
    try {
      parser.push(lines.join('\n'), true);
    } catch {
      return false;
    }
    const { rows, columns } = parser.take();
    return (
      rows > 0 &&
      columns.length > 1 &&
      columns.some((cells) => cells.some((cell) => cell.includes(delimiter)))
    );
  });
}

/** The delimiter of a text that has spaces before fields in quotes, where all its rows are read so; otherwise undefined. */
export function paddedQuotes(text: string, isAll: boolean, given: string | undefined): string | undefined {
  const found = /([,;\t|]) +"/.exec(text)?.[1];
  if (found === undefined || (given !== undefined && given !== found)) {
    return undefined;
  }
  const parser = new CsvParser(found, new TableRows({ delimiter: found, isStrict: true, isPadded: true }));
  try {
    parser.push(...takeSample(text, isAll));
  } catch {
    return undefined;
  }
  return (parser.names?.length ?? 0) > 1 ? found : undefined;
}
