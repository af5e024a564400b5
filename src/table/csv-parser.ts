import { invalidTable } from './invalid';

const MAX_ROW_CHARS = 2 ** 24;

/**
 * Splits CSV text (RFC 4180, with any one-character delimiter) into columns of fields, from pieces of text
 * of any size; a row may be spread over many pieces. Lines end with LF, CRLF or CR, also mixed. Empty lines
 * are skipped. A row with more or fewer fields than the header, or a quote that is never closed, is
 * `table.invalid` with the row.
 */
export class CsvParser {
  /** The fields of the header line, once it was met. */
  names: string[] | undefined;
  /** Complete rows since the last `take`, by column. */
  private columns: string[][] = [];
  private rows = 0;
  private taken = 0;
  private rest = '';
  private row: string[] = [];
  /** True where the text at hand has a CR that is no part of a CRLF, as very old files do. */
  private bareCr = false;

  constructor(private readonly delimiter: string) {}

  /** Rows that are complete and not taken yet. */
  get ready(): number {
    return this.rows;
  }

  /** Adds a piece of text; `last` ends the table. */
  push(piece: string, last: boolean): void {
    const text = this.rest === '' ? piece : this.rest + piece;
    this.bareCr = /\r[^\n]/.test(text);
    let at = 0;
    for (;;) {
      const next = this.readRow(text, at, last);
      if (next < 0) {
        break;
      }
      at = next;
      this.endRow();
    }
    this.rest = last ? '' : text.slice(at);
    if (this.rest.length > MAX_ROW_CHARS) {
      throw invalidTable(
        `Row ${this.rowNumber()} is longer than ${MAX_ROW_CHARS} characters. A quote in it is probably never closed.`,
      );
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

  /** Reads one row into `this.row`; answers where the next begins, or -1 when the text ends before it does. */
  private readRow(text: string, start: number, last: boolean): number {
    let at = skipEmptyLines(text, start);
    if (at >= text.length) {
      return -1;
    }
    const { delimiter } = this;
    this.row = [];
    let lineEnd = this.lineEnd(text, at);
    if (lineEnd === text.length && !last) {
      return -1;
    }
    for (;;) {
      if (text.charCodeAt(at) === 34) {
        const close = this.readQuoted(text, at, last);
        if (close < 0) {
          return -1;
        }
        at = close;
        if (at > lineEnd) {
          lineEnd = this.lineEnd(text, at);
          if (lineEnd === text.length && !last) {
            return -1;
          }
        }
        if (at === text.length) {
          return last ? at : -1;
        }
        if (at === lineEnd) {
          return afterLineEnd(text, at, last);
        }
        if (text[at] !== delimiter) {
          throw invalidTable(
            `Row ${this.rowNumber()}: text follows the closing quote of field ${this.row.length}. Double the quotes that belong to the text.`,
          );
        }
        at++;
        continue;
      }
      const end = text.indexOf(delimiter, at);
      if (end < 0 || end > lineEnd) {
        this.row.push(text.slice(at, lineEnd));
        return lineEnd === text.length ? lineEnd : afterLineEnd(text, lineEnd, last);
      }
      this.row.push(text.slice(at, end));
      at = end + 1;
    }
  }

  /** Reads the quoted field that begins at `open`; answers where it ends, after the closing quote. */
  private readQuoted(text: string, open: number, last: boolean): number {
    let from = open + 1;
    let doubled = false;
    for (;;) {
      const quote = text.indexOf('"', from);
      if (quote < 0 || (quote + 1 === text.length && !last)) {
        if (!last) {
          return -1;
        }
        if (quote < 0) {
          throw invalidTable(
            `Row ${this.rowNumber()}: the quote before ${preview(text, open)} is never closed.`,
          );
        }
      }
      if (text.charCodeAt(quote + 1) === 34) {
        doubled = true;
        from = quote + 2;
        continue;
      }
      const field = text.slice(open + 1, quote);
      this.row.push(doubled ? field.replaceAll('""', '"') : field);
      return quote + 1;
    }
  }

  private endRow(): void {
    const { row } = this;
    if (this.names === undefined) {
      this.names = row;
      this.columns = row.map(() => []);
      return;
    }
    if (row.length !== this.names.length) {
      throw invalidTable(
        `Row ${this.rowNumber()} has ${row.length} fields, the header has ${this.names.length}. Put text that holds ${nameOf(this.delimiter)} in quotes.`,
      );
    }
    for (let i = 0; i < row.length; i++) {
      this.columns[i]!.push(row[i]!);
    }
    this.rows++;
  }

  /** Where the line ends that `at` is in: at its CRLF, LF or CR, or at the end of the text. */
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

function nameOf(delimiter: string): string {
  return delimiter === '\t' ? 'a tab' : `"${delimiter}"`;
}

function preview(text: string, at: number): string {
  return JSON.stringify(text.slice(at + 1, at + 31));
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

/** The start of the line after the line end at `at`; a CR at the end of a piece may be half of a CRLF. */
function afterLineEnd(text: string, at: number, last: boolean): number {
  if (text.charCodeAt(at) === 13) {
    if (at + 1 === text.length && !last) {
      return -1;
    }
    return text.charCodeAt(at + 1) === 10 ? at + 2 : at + 1;
  }
  return at + 1;
}
