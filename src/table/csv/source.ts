import { looksLikeValue } from '../cells/classify';
import { emptyTable, invalidTable, listNames, show } from '../cells/errors';
import { parseNumber } from '../cells/parse-number';
import { assertWidth } from '../columns/bounds';
import { headerOf } from '../columns/header';
import type { Slice, SliceOptions, SliceSource, TableForm } from '../columns/slices';
import { PIECE, type Pieces } from '../text/pieces';
import { CsvParser } from './parser';
import { type CsvForm, TableRows } from './table-rows';

/** Characters that the first line is looked for in. */
const MAX_HEADER = 1024 * 1024;
const LINE_END = /[\r\n]/;
const WHOLE_LINE_END = /\r\n|\n|\r/;

/** A table in CSV text, read again each time from re-readable pieces of text. */
export class CsvSource implements SliceSource {
  readonly names: readonly string[];
  private readonly told: readonly string[];
  /** The rows as they were read last. */
  private rows: TableRows;

  private constructor(
    readonly form: TableForm,
    written: readonly string[],
    private readonly shape: CsvForm,
    private readonly pieces: Pieces,
  ) {
    const { names, warning } = headerOf(written);
    this.names = names;
    this.told = [
      ...(warning === undefined ? [] : [warning]),
      ...(shape.hasRowNames === true
        ? [
            `The header has one name fewer than the rows have fields: the first field of each is taken for the name of the row. If it only counts the rows, leave column ${show(names[0])} out by Ignore.`,
          ]
        : []),
    ];
    this.rows = new TableRows(shape);
  }

  /**
   * Finds the delimiter and reads the header. Errors: `table.empty` for no text, `table.invalid` for a
   * header that cannot be one.
   */
  static async open(form: TableForm, pieces: Pieces, delimiter?: string): Promise<CsvSource> {
    let head = '';
    let more = false;
    for await (const piece of pieces()) {
      if (head.length >= MAX_HEADER || (head.length >= PIECE && LINE_END.test(head))) {
        more = true;
        break;
      }
      head += piece;
    }
    if (head.trim() === '') {
      throw emptyTable('The text is empty; a CSV table needs a header line and rows.');
    }
    if (more && !LINE_END.test(head)) {
      assertWidth(DELIMITERS.reduce((most, sign) => Math.max(most, head.split(sign).length), 0));
      throw invalidTable('The first line of the text, which should name the columns, does not end.');
    }
    const separator = SEPARATOR_LINE.exec(head);
    const front = (separator?.[0] ?? '') + commentsIn(head.slice(separator?.[0].length));
    const text = head.slice(front.length);
    const found = separator?.[1] ?? delimiter ?? findDelimiter(text, !more);
    const shape: CsvForm = { delimiter: found, isAnnotated: ANNOTATION.test(front) };
    const skipped = front.split(WHOLE_LINE_END).length - 1;
    const title =
      separator === null && delimiter === undefined ? titleError(text, found, skipped) : undefined;
    if (title !== undefined) {
      throw title;
    }
    shape.hasRowNames = hasRowNames(text, found, !more);
    const parser = new CsvParser(found, new TableRows(shape));
    try {
      parser.push(text, !more);
    } catch (error) {
      throw preambleError(text, found, skipped) ?? error;
    }
    if (parser.names === undefined) {
      throw invalidTable('The first line of the text, which should name the columns, does not end.');
    }
    checkHeader(parser.names);
    return new CsvSource(form, parser.names, shape, front === '' ? pieces : without(pieces, front.length));
  }

  get delimiter(): string {
    return this.shape.delimiter;
  }

  get warnings(): readonly string[] {
    const encoding = this.pieces.oldEncoding?.();
    const { repeated, torn } = this.rows;
    return [
      ...(encoding === undefined ? [] : [OLD_ENCODINGS[encoding]]),
      ...this.told,
      ...(repeated === 0 ? [] : [`The header comes again in ${lines(repeated)}, left out as no row.`]),
      ...(torn === 0
        ? []
        : [
            `The text has NUL bytes, as a computer without power leaves them: ${lines(torn)} cut off before them ${torn === 1 ? 'is' : 'are'} left out.`,
          ]),
    ];
  }

  async *slices({ sizer, signal }: SliceOptions): AsyncIterable<Slice> {
    this.rows = new TableRows(this.shape);
    const parser = new CsvParser(this.delimiter, this.rows);
    for await (const piece of this.pieces()) {
      parser.push(piece, false);
      if (parser.ready > 0) {
        yield this.slice(parser);
      } else {
        // Inside a long field no row is completed, so the loop over rows never yields to the event loop.
        await sizer.step(signal);
      }
    }
    parser.push('', true);
    if (parser.ready > 0) {
      yield this.slice(parser);
    }
  }

  private slice(parser: CsvParser): Slice {
    const { first, rows, columns } = parser.take();
    // Cells copied from a spreadsheet are separated by tabs and formatted for its locale.
    const grouped = this.delimiter === '\t';
    const comma = grouped || this.delimiter === ';';
    return {
      first,
      rows,
      part: this.pieces.reached?.(),
      // A nameless last column is dropped with the first row, which the header may have been read without.
      column: (index) => ({ kind: 'fields', cells: columns[index] ?? blanks(rows), comma, grouped }),
    };
  }
}

const lines = (count: number): string => (count === 1 ? 'a line' : `${count} lines`);

const blanks = (rows: number): string[] => new Array<string>(rows).fill('');

const OLD_ENCODINGS = {
  'windows-1252':
    'The text is not UTF-8; it was read as Windows-1252 (Latin-1), as spreadsheets of Western Europe save it. If letters look wrong, save it as UTF-8.',
  shift_jis:
    'The text is not UTF-8; it was read as Shift-JIS, as spreadsheets of Japan save it. If letters look wrong, save it as UTF-8.',
};

/** A first line `sep=;` names the delimiter, as spreadsheets write it; it is not a row. */
const SEPARATOR_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i;

/** The text without its first characters. */
function without(pieces: Pieces, characters: number): Pieces {
  const rest = async function* (): AsyncIterable<string> {
    let left = characters;
    for await (const piece of pieces()) {
      yield piece.slice(left);
      left = Math.max(0, left - piece.length);
    }
  };
  return Object.assign(rest, { reached: pieces.reached, oldEncoding: pieces.oldEncoding });
}

/** What InfluxDB writes above the header of an annotated table. */
const ANNOTATION = /^#(?:group|datatype|default)\b/m;
const COMMENTS = /^(?:#[^\r\n]*(?:\r\n|\n|\r))+/;

/** The lines that begin with # above the header; none where the last of them is the header itself. */
function commentsIn(head: string): string {
  const comments = COMMENTS.exec(head)?.[0] ?? '';
  const [next = ''] = head.slice(comments.length).split(LINE_END, 1);
  const fields = next.split(DELIMITERS.find((sign) => next.includes(sign)) ?? ',');
  return fields.length > 1 && !fields.some((field) => isNumber(field)) ? comments : '';
}

/** Lines in which a header is looked for, and lines alike that must follow it. */
const MAX_PREAMBLE = 60;
const ALIKE = 3;
/** Lines of a title. */
const MAX_TITLE = 4;

const isNumber = (field: string): boolean => Number.isFinite(parseNumber(field, true));
const isName = (field: string): boolean => field.trim() !== '' && !isNumber(field);

/** `table.invalid` where a title above the table has a comma, by which the rows with decimal commas could be parted too. */
function titleError(head: string, found: string, skipped: number): Error | undefined {
  const lines = head.split(WHOLE_LINE_END, MAX_PREAMBLE + ALIKE);
  const width = lines[0]!.split(found).length;
  const [other] = DELIMITERS.filter((sign) => !lines[0]!.includes(sign))
    .map((sign) => headerLine(lines, sign))
    .filter(
      (header) =>
        header.at > 0 && header.at <= MAX_TITLE && header.isFollowedByNumbers && header.width > width,
    );
  return other === undefined ? undefined : beginsLater(width, lines, other.at, skipped);
}

function beginsLater(width: number, lines: readonly string[], at: number, skipped: number): Error {
  return invalidTable(
    `The first line names ${width === 1 ? 'one column' : `${width} columns`}, but the table seems to begin in line ${at + skipped + 1} (${show(lines[at])}). Remove the lines before it: the first line must hold the names of the columns.`,
  );
}

/** `table.invalid` that names the line of the header, where other text stands before it; undefined where none does. */
function preambleError(head: string, found: string, skipped: number): Error | undefined {
  const lines = head.split(WHOLE_LINE_END, MAX_PREAMBLE + ALIKE);
  const own = lines.map((line) => line.split(found).length);
  const headers = DELIMITERS.map((delimiter) => headerLine(lines, delimiter));
  const [header] = headers.sort(
    (a, b) => Number(b.isFollowedByNumbers) - Number(a.isFollowedByNumbers) || b.width - a.width,
  );
  const fits = own.filter((width) => width === own[0]).length * 2 > own.length;
  if (header!.at <= 0 || (fits && !header!.isFollowedByNumbers)) {
    // Where the first line fits the others, some row further down does not.
    return undefined;
  }
  return beginsLater(own[0]!, lines, header!.at, skipped);
}

/**
 * The first line that can be a header with this delimiter, from 0, one above numbers where there is any, and its columns;
 * -1 where none can.
 */
function headerLine(
  lines: readonly string[],
  delimiter: string,
): { at: number; width: number; isFollowedByNumbers: boolean } {
  const rows = lines.map((line) => line.split(delimiter));
  const isHeader = (
    at: number,
    isRow: (fields: readonly string[], header: readonly string[]) => boolean,
  ): boolean =>
    rows[at]!.length > 1 &&
    rows[at]!.every(isName) &&
    rows.slice(at + 1, at + 1 + ALIKE).filter((row) => isRow(row, rows[at]!)).length === ALIKE;
  // The last of the columns may be for remarks, and be left out of the rows.
  const above = rows.findIndex((_, at) =>
    isHeader(
      at,
      (row, header) =>
        row.length === rows[at + 1]!.length &&
        row.length > 1 &&
        row.length <= header.length &&
        row.some(isNumber),
    ),
  );
  const at =
    above >= 0
      ? above
      : rows.findIndex((_, line) => isHeader(line, (row, header) => row.length === header.length));
  return { at, width: rows[at]?.length ?? 0, isFollowedByNumbers: above >= 0 };
}

/** Whether all rows have one field more than the header, which names them, as R writes tables. */
function hasRowNames(head: string, delimiter: string, last: boolean): boolean {
  const table = new TableRows({ delimiter, hasRowNames: true });
  const parser = new CsvParser(delimiter, table);
  try {
    parser.push(...sampleOf(head, last));
  } catch {
    return false;
  }
  const { rows, columns } = parser.take();
  const [names, second] = columns;
  // Spaces follow the commas of a sentence, and an empty field at the end of each row is none.
  return (
    rows > 1 &&
    columns.length === table.width &&
    new Set(names).size === rows &&
    !second!.some((field) => field.startsWith(' ')) &&
    !columns.at(-1)!.every((field) => field.trim() === '')
  );
}

function checkHeader(names: readonly string[]): void {
  const numbers = names.map((name) => parseNumber(name, false));
  if (numbers.every((value) => value !== undefined && !Number.isNaN(value))) {
    if (!numbers.every((value) => Number.isInteger(value)) || new Set(names).size < names.length) {
      throw invalidTable(
        'The first line holds numbers only. A CSV table needs a header line with column names.',
      );
    }
  }
  const values = names.filter(looksLikeValue);
  if (new Set(names).size < names.length && values.length * 2 > names.length) {
    throw invalidTable(
      `The first line (${listNames(names)}) looks like values. A CSV table needs a first line with the names of its columns.`,
    );
  }
  assertWidth(names.length);
}

const DELIMITERS = [',', ';', '\t', '|'];
const SAMPLE_ROWS = 50;

/**
 * The delimiter that gives the first rows an equal number of fields, the most if several do; failing that, the
 * one that splits the header into the most fields.
 */
function findDelimiter(head: string, last: boolean): string {
  let best = { delimiter: ',', even: false, fields: 1 };
  for (const delimiter of DELIMITERS) {
    const { even, fields } = tryDelimiter(head, delimiter, last);
    if (fields > 1 && (even === best.even ? fields > best.fields : even)) {
      best = { delimiter, even, fields };
    }
  }
  return best.delimiter;
}

function tryDelimiter(head: string, delimiter: string, last: boolean): { even: boolean; fields: number } {
  const parser = new CsvParser(delimiter, new TableRows({ delimiter }));
  try {
    parser.push(...sampleOf(head, last));
    return { even: true, fields: parser.names?.length ?? 1 };
  } catch {
    return { even: false, fields: parser.names?.length ?? 1 };
  }
}

/** The first rows of a text, and whether they are all of it. */
function sampleOf(head: string, last: boolean): [text: string, last: boolean] {
  const lines = head.split('\n', SAMPLE_ROWS + 1);
  const whole = last && lines.length <= SAMPLE_ROWS;
  return [lines.slice(0, whole ? lines.length : SAMPLE_ROWS).join('\n'), whole];
}
