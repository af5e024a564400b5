import { isAbsent, looksLikeValue } from '../cells/classify';
import { parseNumber } from '../cells/parse-number';
import { emptyTable, invalidTable, listNames, show } from '../cells/types';
import { assertWidth, makeHeader } from '../columns/header';
import type { Slice, SliceOptions, SliceSource, TableForm } from '../columns/slices';
import { PIECE, type Pieces } from '../text/decode';
import { DELIMITERS } from './delimiter';
import { hiddenPieces } from './escapes';
import { findLayout } from './layout';
import { CsvParser } from './parser';
import { type CsvForm, TableRows } from './table-rows';

/** Characters that the first line is looked for in. */
const MAX_HEADER = 1024 * 1024;
const LINE_END = /[\r\n]/;
const ARFF = /^(?:\s|%[^\r\n]*[\r\n])*@relation\b/i;
const MARKUP = /^\s*<(?:!doctype html|html|\?xml)\b/i;
/** An element and, further on, the end of one: a name of a column may stand in angle brackets too. */
const ELEMENTS = /^\s*<[a-z_][\w:.-]*(?:\s[^<>]*)?>[^]*<\/[a-z_][\w:.-]*\s*>/i;

/** A table in CSV text, read again each time from re-readable pieces of text. */
export class CsvSource implements SliceSource {
  readonly names: readonly string[];
  private readonly told: readonly string[];
  /** The rows as they were read last. */
  private rows: TableRows;

  private constructor(
    readonly form: TableForm,
    header: { names: readonly string[]; warnings: readonly string[] },
    private readonly shape: CsvForm,
    private readonly pieces: Pieces,
  ) {
    const { names, warning } = makeHeader(header.names, shape.hasRowNames);
    this.names = names;
    this.told = [
      ...header.warnings,
      ...(warning === undefined ? [] : [warning]),
      ...(shape.hasRowNames === true
        ? [
            `The header has one name fewer than the rows have fields: the first field of each is taken for the name of the row. If it only counts the rows, add column ${show(names[0])} to Ignore.`,
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
    if (MARKUP.test(head) || (ELEMENTS.test(head) && (more || head.trimEnd().endsWith('>')))) {
      throw invalidTable(
        'The text is a web page (HTML) or XML, not a table. For XML, wire an xml node in front; if a web page came instead of data, check whether the address asks you to sign in.',
      );
    }
    if (ARFF.test(head)) {
      throw invalidTable(
        'The text is an ARFF file of Weka, whose columns stand in lines of @attribute. Save it as CSV, or write one line with the names of the columns in place of all up to @data.',
      );
    }
    if (more && !LINE_END.test(head)) {
      assertWidth(DELIMITERS.reduce((most, sign) => Math.max(most, head.split(sign).length), 0));
      throw invalidTable('The first line of the text, which should name the columns, does not end.');
    }
    const { begin, line, form: shape, names, warnings } = findLayout(head, !more, delimiter);
    if (names === undefined) {
      throw invalidTable('The first line of the text, which should name the columns, does not end.');
    }
    checkHeader(names, line === 1 ? 'The first line' : `Line ${line}`);
    const read = shape.isEscaped === true ? hiddenPieces(pieces) : pieces;
    return new CsvSource(form, { names, warnings }, shape, begin === 0 ? read : without(read, begin));
  }

  get delimiter(): string {
    return this.shape.delimiter;
  }

  get warnings(): readonly string[] {
    const encoding = this.pieces.oldEncoding?.();
    const { aside, firstAside, repeated, torn, nulsAbove, short, firstShort } = this.rows;
    const { footers, firstFooter, shell, units } = this.rows;
    return [
      ...(encoding === undefined ? [] : [OLD_ENCODINGS[encoding]]),
      ...this.told,
      ...(aside === 0
        ? []
        : [
            `The table is drawn with lines: ${lines(aside)} of other text (${show(firstAside)}) ${aside === 1 ? 'is' : 'are'} left out as no row.`,
          ]),
      ...(units === undefined
        ? []
        : [
            `The line under the header (${show(units.filter((unit) => unit.trim() !== '').join(', '))}) names units: it is left out as no row.`,
          ]),
      ...(footers === 0
        ? []
        : [
            `${footers === 1 ? 'A line' : `${footers} lines`} that a tool has written below the rows (${show(firstFooter)}) ${footers === 1 ? 'is' : 'are'} left out.`,
          ]),
      ...(shell === ''
        ? []
        : [
            `Cells such as ${shell} are formulas of a spreadsheet that give their text: they are read as ${show(shell.slice(2, -1))} and the like.`,
          ]),
      ...(repeated === 0
        ? []
        : [`The header is repeated in ${lines(repeated)}, which ${repeated === 1 ? 'is' : 'are'} left out.`]),
      ...(short === 0
        ? []
        : [
            `${short === 1 ? `Row ${firstShort} has` : `${short} rows, the first of them row ${firstShort}, have`} fewer fields than the header: cells absent at the end are missing values. Text that holds line breaks must be in quotes.`,
          ]),
      ...(nulsAbove
        ? [
            'The text begins with NUL bytes, as a log that was emptied while it was written has them: the first line behind them is taken for the names of the columns.',
          ]
        : []),
      ...(torn === 0
        ? []
        : [
            `The text has NUL bytes, as a computer without power leaves them: ${lines(torn)} cut off before them ${torn === 1 ? 'is' : 'are'} left out.`,
          ]),
    ];
  }

  async *slices({ sizer, signal }: SliceOptions): AsyncIterable<Slice> {
    this.rows = new TableRows(this.shape);
    const parser = new CsvParser(this.delimiter, this.rows, this.shape.quote);
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
    const grouped = this.delimiter === '\t' || this.shape.isDrawn === true;
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

const COMMA_NUMBER = /^[+-]?\d+,\d+$/;

function checkHeader(names: readonly string[], line: string): void {
  if (names[0] === 'Record Length' && names.length > 4 && Number.isFinite(parseNumber(names[3]!, true))) {
    // https://github.com/chemdrv/python-for-pchem (F0000CH1.CSV of a Tektronix TDS2001C)
    throw invalidTable(
      'The text is an oscilloscope export (Tektronix): settings stand beside the values, and no line names the columns. Keep its last columns, and write a first line with their names, such as time,CH1.',
    );
  }
  const numbers = names.map((name) =>
    parseNumber(COMMA_NUMBER.test(name) ? name.replace(',', '.') : name, false),
  );
  if (numbers.every((value) => value !== undefined && !Number.isNaN(value))) {
    if (!numbers.every((value) => Number.isInteger(value)) || new Set(names).size < names.length) {
      throw invalidTable(`${line} holds numbers only. A CSV table needs a header line with column names.`);
    }
  }
  const values = names.filter((name) => looksLikeValue(name) || (name !== '' && isAbsent(name)));
  if (new Set(names).size < names.length && values.length * 2 > names.length) {
    throw invalidTable(
      `${line} (${listNames(names)}) looks like values. A CSV table needs a first line with the names of its columns.`,
    );
  }
  assertWidth(names.length);
}
