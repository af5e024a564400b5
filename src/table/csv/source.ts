import { looksLikeValue } from '../cells/classify';
import { emptyTable, invalidTable, listNames, show } from '../cells/errors';
import { parseNumber } from '../cells/parse-number';
import { assertWidth } from '../columns/bounds';
import {
  checkNames,
  type Slice,
  type SliceOptions,
  type SliceSource,
  type TableForm,
} from '../columns/slices';
import { PIECE, type Pieces } from '../text/pieces';
import { CsvParser } from './parser';

/** Characters that the first line is looked for in. */
const MAX_HEADER = 1024 * 1024;
const LINE_END = /[\r\n]/;

/** A table in CSV text, read again each time from re-readable pieces of text. */
export class CsvSource implements SliceSource {
  private constructor(
    readonly form: TableForm,
    readonly names: readonly string[],
    readonly delimiter: string,
    private readonly pieces: Pieces,
  ) {}

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
    if (separator !== null) {
      head = head.slice(separator[0].length);
      pieces = without(pieces, separator[0].length);
    }
    const found = separator?.[1] ?? delimiter ?? findDelimiter(head, !more);
    const parser = new CsvParser(found, true);
    try {
      parser.push(head, !more);
    } catch (error) {
      throw preambleError(head, found) ?? error;
    }
    if (parser.names === undefined) {
      throw invalidTable('The first line of the text, which should name the columns, does not end.');
    }
    checkHeader(parser.names);
    return new CsvSource(form, parser.names, found, pieces);
  }

  get warnings(): readonly string[] {
    const encoding = this.pieces.oldEncoding?.();
    return encoding === undefined ? [] : [OLD_ENCODINGS[encoding]];
  }

  async *slices({ sizer, signal }: SliceOptions): AsyncIterable<Slice> {
    const parser = new CsvParser(this.delimiter, true);
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

/** Lines in which a header is looked for, and lines alike that must follow it. */
const MAX_PREAMBLE = 30;
const ALIKE = 3;

/** `table.invalid` that names the line of the header, where other text stands before it; undefined where none does. */
function preambleError(head: string, found: string): Error | undefined {
  const lines = head.split(/\r\n|\n|\r/, MAX_PREAMBLE + ALIKE);
  const own = lines.map((line) => line.split(found).length);
  if (own.filter((width) => width === own[0]).length * 2 > own.length) {
    // The header fits: some row further down does not.
    return undefined;
  }
  const header = DELIMITERS.map((delimiter) => headerOf(lines, delimiter)).sort(
    (a, b) => b.width - a.width,
  )[0]!;
  if (header.at <= 0) {
    return undefined;
  }
  return invalidTable(
    `The first line names ${own[0] === 1 ? 'one column' : `${own[0]} columns`}, but the table seems to begin in line ${header.at + 1} (${show(lines[header.at])}). Remove the lines before it: the first line must hold the names of the columns.`,
  );
}

/** The first line that can be a header with this delimiter, from 0, and its columns; none of these where none can. */
function headerOf(lines: readonly string[], delimiter: string): { at: number; width: number } {
  const rows = lines.map((line) => line.split(delimiter));
  const at = rows.findIndex(
    (fields, line) =>
      fields.length > 1 &&
      fields.every((field) => field.trim() !== '' && !Number.isFinite(parseNumber(field, true))) &&
      rows.slice(line + 1, line + 1 + ALIKE).filter((next) => next.length === fields.length).length === ALIKE,
  );
  return { at, width: rows[at]?.length ?? 0 };
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
  checkNames(names);
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
  const parser = new CsvParser(delimiter, true);
  try {
    const lines = head.split('\n', SAMPLE_ROWS + 1);
    const whole = last && lines.length <= SAMPLE_ROWS;
    parser.push(lines.slice(0, whole ? lines.length : SAMPLE_ROWS).join('\n'), whole);
    return { even: true, fields: parser.names?.length ?? 1 };
  } catch {
    return { even: false, fields: parser.names?.length ?? 1 };
  }
}
