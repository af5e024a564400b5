import { invalidTable } from '../cells/types';
import type { Quote, TableRows } from './table-rows';

const MAX_ROW_CHARS = 2 ** 24;

/**
 * State of an unfinished field: unquoted, quoted, or quoted and ending in a quote, which closes it unless another
 * quote follows.
 */
type OpenField = 'plain' | 'quoted' | 'quote';

const OPEN = -1;
const OPEN_OR_CLOSED = -2;
/** There are NUL bytes in it: it was cut off before them. */
const TORN = -3;

/**
 * Splits CSV text (RFC 4180, with any one-character delimiter) into columns of fields, from pieces of text
 * of any size; a row, and a field, may span many pieces. Of spaces, any number parts two fields. Each piece is scanned once; only an unfinished field is
 * carried over to the next. Lines end with LF, CRLF or CR, also mixed. Empty lines are skipped, and lines of spaces
 * where there is more than one column. A row with more fields than the header (with fewer, unless `lines` completes it), or a
 * quote that is never closed, is `table.invalid` with the row.
 */
export class CsvParser {
  /** The fields of the header line, once it has been read. */
  names: string[] | undefined;
  /** Complete rows since the last `take`, by column. */
  private columns: string[][] = [];
  private rows = 0;
  private taken = 0;
  /** The complete fields of the unfinished row, and how many characters they have. */
  private row: string[] = [];
  private rowChars = 0;
  /** The unfinished field after them, in pieces. */
  private rest: string[] = [];
  private restChars = 0;
  private open: OpenField = 'plain';
  /** True where the current text has a CR without LF, as in very old files. */
  private bareCr = false;

  private mayHaveNuls = false;
  private mayHaveShells = false;
  private readonly isPadded: boolean;

  /**
   * @param lines what takes the lines for rows of a table; empty fields beyond its last named column, as spreadsheets add
   * them, are dropped too. Left out, each line is a row
   * @param quote what fields with delimiters and line ends stand in
   */
  constructor(
    private readonly delimiter: string,
    private readonly lines?: TableRows,
    private readonly quote: Quote = '"',
  ) {
    this.isPadded = lines?.isPadded === true;
  }

  /** Rows that are complete and not taken yet. */
  get ready(): number {
    return this.rows;
  }

  /** Adds a piece of text; `last` ends the table. */
  push(piece: string, last: boolean): void {
    if (!last && !this.endsField(piece)) {
      this.keep(piece);
      return;
    }
    const text = this.rest.length === 0 ? piece : this.rest.join('') + piece;
    this.rest = [];
    this.restChars = 0;
    this.bareCr = /\r[^\n]/.test(text);
    this.mayHaveNuls = text.includes('\0');
    this.mayHaveShells ||= text.includes('="');
    let at = 0;
    for (;;) {
      const next = this.readRow(text, at, last);
      if (next < 0) {
        break;
      }
      at = next;
      this.endRow();
    }
  }

  /** The complete rows, column by column, and the number of the first of them. */
  take(): { first: number; rows: number; columns: string[][] } {
    const slice = { first: this.taken, rows: this.rows, columns: this.columns };
    this.taken += this.rows;
    this.rows = 0;
    this.columns = this.columns.map(() => []);
    return slice;
  }

  /** Whether the unfinished field ends in this piece. */
  private endsField(piece: string): boolean {
    if (this.rest.length === 0) {
      return true;
    }
    if (this.open === 'plain') {
      return piece.includes(this.delimiter) || piece.includes('\n') || piece.includes('\r');
    }
    let from = 0;
    if (this.open === 'quote' && piece !== '') {
      if (piece[0] !== this.quote) {
        return true;
      }
      from = 1;
    }
    for (;;) {
      const quote = piece.indexOf(this.quote, from);
      if (quote < 0) {
        this.open = piece === '' ? this.open : 'quoted';
        return false;
      }
      if (quote + 1 === piece.length) {
        this.open = 'quote';
        return false;
      }
      if (piece[quote + 1] !== this.quote) {
        return true;
      }
      from = quote + 2;
    }
  }

  /** Keeps a part of the unfinished field. */
  private keep(text: string): void {
    if (text !== '') {
      this.rest.push(text);
    }
    this.restChars += text.length;
    if (this.rowChars + this.restChars > MAX_ROW_CHARS) {
      const size = `${MAX_ROW_CHARS / 2 ** 20} million characters`;
      throw invalidTable(
        this.open === 'plain'
          ? `Row ${this.rowNumber()} is longer than ${size}. Is this a CSV table?`
          : `Row ${this.rowNumber()}: the quote before ${preview(this.rest)} is not closed within ${size}. It is probably never closed: close it, or double it where it belongs to the text.`,
      );
    }
  }

  /** Leaves the text from `at` for the next piece: the row that continues at `start` is unfinished. */
  private leave(text: string, start: number, at: number, open: OpenField): number {
    this.open = open;
    this.rowChars += at - start;
    this.keep(text.slice(at));
    return -1;
  }

  /** Reads one row into `this.row`. Returns where the next begins, or -1 when the text ends first. */
  private readRow(text: string, start: number, last: boolean): number {
    let at = start;
    if (this.row.length === 0) {
      at = skipEmptyLines(text, start);
      if (at >= text.length) {
        return -1;
      }
    }
    const { delimiter, row } = this;
    const quoteCode = this.quote.charCodeAt(0);
    const isSpaced = delimiter === ' ';
    let lineEnd = this.lineEnd(text, at);
    for (;;) {
      if (isSpaced) {
        while (at < lineEnd && text.charCodeAt(at) === 32) {
          at++;
        }
        if (at === lineEnd && row.length > 0 && (last || at < text.length)) {
          return afterLineEnd(text, at);
        }
      }
      if (this.isPadded) {
        const begin = skipSpaces(text, at);
        at = text.charCodeAt(begin) === quoteCode ? begin : at;
      }
      let from = at;
      if (text.charCodeAt(at) === quoteCode) {
        const close = this.readQuoted(text, at, last);
        if (close === OPEN || close === OPEN_OR_CLOSED) {
          return this.leave(text, start, at, close === OPEN ? 'quoted' : 'quote');
        }
        from = close === TORN ? text.indexOf('\0', at) : close;
        if (from > lineEnd) {
          lineEnd = this.lineEnd(text, from);
        }
        if (close !== TORN) {
          at = this.isPadded ? Math.min(skipSpaces(text, close), lineEnd) : close;
          if (at === lineEnd) {
            return afterLineEnd(text, at);
          }
          if (text[at] !== delimiter) {
            throw invalidTable(
              text[close - 2] === '\\'
                ? `Row ${this.rowNumber()}: a quote in field ${this.row.length} has a backslash before it, as none of the first rows has. Double the quotes that belong to the text ("").`
                : `Row ${this.rowNumber()}: text follows the closing quote of field ${this.row.length}. Double the quotes that belong to the text.`,
            );
          }
          at++;
          continue;
        }
      }
      const end = text.indexOf(delimiter, from);
      if (end < 0 || end > lineEnd) {
        if (lineEnd === text.length && !last) {
          return this.leave(text, start, at, 'plain');
        }
        row.push(text.slice(at, lineEnd));
        return afterLineEnd(text, lineEnd);
      }
      row.push(text.slice(at, end));
      at = end + 1;
    }
  }

  /**
   * Reads the quoted field that begins at `open`. Returns the position after its closing quote, or OPEN, or
   * OPEN_OR_CLOSED: a quote at the end of the text may be the first of a doubled one; or TORN, and nothing is read.
   */
  private readQuoted(text: string, open: number, last: boolean): number {
    let from = open + 1;
    let doubled = false;
    for (;;) {
      const quote = text.indexOf(this.quote, from);
      if (!last && (quote < 0 || quote + 1 === text.length)) {
        return quote < 0 ? OPEN : OPEN_OR_CLOSED;
      }
      if (quote < 0 && this.isTorn(text, open, text.length)) {
        return TORN;
      }
      if (quote < 0) {
        throw invalidTable(
          `Row ${this.rowNumber()}: the quote before ${preview([text.slice(open)])} is never closed.`,
        );
      }
      if (text[quote + 1] === this.quote) {
        doubled = true;
        from = quote + 2;
        continue;
      }
      if (this.isTorn(text, open, quote)) {
        return TORN;
      }
      const field = text.slice(open + 1, quote);
      this.row.push(doubled ? field.replaceAll(this.quote.repeat(2), this.quote) : field);
      return quote + 1;
    }
  }

  private isTorn(text: string, from: number, to: number): boolean {
    return this.lines !== undefined && this.mayHaveNuls && text.slice(from, to).includes('\0');
  }

  private endRow(): void {
    const row =
      this.lines === undefined ? this.row : this.lines.take(this.row, this.mayHaveNuls, this.mayHaveShells);
    this.row = [];
    this.rowChars = 0;
    if (row === undefined || (this.delimiter === ' ' && row.length === 1 && row[0] === '')) {
      return;
    }
    if (this.names === undefined) {
      this.names = row;
      this.columns = row.map(() => []);
      return;
    }
    if (this.lines !== undefined) {
      this.dropBlanks(this.names, row);
    }
    if (row.length !== this.names.length) {
      if (row.length === 1 && row[0]!.trim() === '') {
        // A line of spaces counts as empty.
        return;
      }
      if (this.lines?.complete(row, this.names.length, this.rowNumber()) !== true) {
        throw this.unequal(row, this.names);
      }
    }
    for (let i = 0; i < row.length; i++) {
      this.columns[i]!.push(row[i]!);
    }
    this.rows++;
  }

  private unequal(row: readonly string[], names: readonly string[]): Error {
    const advice =
      row.length > names.length
        ? `Put text that holds ${nameDelimiter(this.delimiter)} in quotes.`
        : 'Leave an empty field where a value is missing, and put text that holds line breaks in quotes.';
    return invalidTable(
      `Row ${this.rowNumber()} has ${row.length} field${row.length === 1 ? '' : 's'}, the header has ${names.length}. ${advice}`,
    );
  }

  private dropBlanks(names: string[], row: string[]): void {
    if (this.taken + this.rows === 0) {
      this.names = withoutBlanks(names, row);
      this.columns = this.names.map(() => []);
    }
    const { length } = this.names!;
    if (row.length > length && row.slice(length).every(isBlank)) {
      row.length = length;
    }
  }

  /** The end of the line around `at`: its CRLF, LF or CR, or the end of the text. */
  private lineEnd(text: string, at: number): number {
    const lf = text.indexOf('\n', at);
    const end = lf < 0 ? text.length : lf;
    if (this.bareCr) {
      const cr = text.indexOf('\r', at);
      return cr < 0 || cr > end ? end : cr;
    }
    return end > at && text.charCodeAt(end - 1) === 13 ? end - 1 : end;
  }

  private rowNumber(): number {
    return this.taken + this.rows + (this.names === undefined ? 0 : 1);
  }
}

const isBlank = (field: string | undefined): boolean => field === undefined || field.trim() === '';

/** The header without the nameless columns at its end that the first row has nothing in: spreadsheets add them. */
function withoutBlanks(names: string[], first: readonly string[]): string[] {
  let width = names.length;
  while (
    width > 1 &&
    names.some((name) => !isBlank(name)) &&
    isBlank(names[width - 1]) &&
    isBlank(first[width - 1])
  ) {
    width--;
  }
  return names.slice(0, width);
}

function nameDelimiter(delimiter: string): string {
  return delimiter === '\t' ? 'a tab' : delimiter === ' ' ? 'spaces' : `"${delimiter}"`;
}

/** The beginning of a field in quotes, without the quote. */
function preview(field: readonly string[]): string {
  return JSON.stringify(field.slice(0, 40).join('').slice(1, 31));
}

function skipSpaces(text: string, at: number): number {
  while (text.charCodeAt(at) === 32) {
    at++;
  }
  return at;
}

function skipEmptyLines(text: string, at: number): number {
  while (at < text.length && isLineEnd(text.charCodeAt(at))) {
    at++;
  }
  return at;
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13;
}

/** Start of the line after the line end at `at`. The LF of a CRLF cut in two reads as an empty line. */
function afterLineEnd(text: string, at: number): number {
  return text.charCodeAt(at) === 13 && text.charCodeAt(at + 1) === 10 ? at + 2 : at + 1;
}
