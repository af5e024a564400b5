import { invalidTable, show } from '../cells/errors';
import { parseNumber } from '../cells/parse-number';
import { joinedNames } from './header-lines';
import { isDashes, isFooter } from './tool-lines';

/** What a field with delimiters or line ends stands in. */
export type Quote = '"' | "'";

/** What a text file shows of itself before it is read, beside what parts its fields. */
export interface CsvForm {
  delimiter: string;
  /** What fields with delimiters stand in: a double quote where it is left out. */
  quote?: Quote;
  /** Each row begins with a field more than the header has names, as R writes row names. */
  hasRowNames?: boolean;
  /** The first field of each line is for the annotations of InfluxDB: `#datatype` and its like begin lines that are no rows. */
  isAnnotated?: boolean;
  /** Lines are drawn around the fields, as databases and SAP print tables: `isRule` tells which are no rows. */
  isDrawn?: boolean;
  /** Lines that name the columns together; one where it is left out. */
  headerLines?: number;
  /** Lines under the header that name the units of the columns. */
  unitLines?: number;
  /** Spaces stand before fields in quotes. */
  isPadded?: boolean;
  /** A row of fewer fields than the header is an error, rather than one whose last cells are missing. */
  isStrict?: boolean;
}

/** Of a drawn table, a line of nothing but dashes and what they cross. */
export function isRule(line: string): boolean {
  return /^[\s|+:=-]*$/.test(line) && /---|===/.test(line);
}

/** Takes the lines of a text file for the header and the rows of a table, and leaves out what is neither. */
export class TableRows {
  /** Lines that were the header again, as in files that were joined. */
  repeated = 0;
  /** Lines that were cut off before NUL bytes, which a computer without power leaves in a log. */
  torn = 0;
  /** The first line came behind NUL bytes. */
  nulsAbove = false;
  /** Rows of fewer fields than the header, and the first of them, from 1. */
  short = 0;
  firstShort = 0;
  /** Lines above, between and below the rows of a drawn table that are none of them, and the first of these. */
  aside = 0;
  firstAside = '';
  /** Lines that a tool wrote to end or to count the rows, and the first of them. */
  footers = 0;
  firstFooter = '';
  /** The line that names the units. */
  units: readonly string[] | undefined;
  private header: readonly string[] | undefined;
  /** The first of several lines of the header. */
  private readonly above: string[][] = [];
  private isDashed = false;
  /** Lines under the header that were looked at. */
  private below = 0;
  /** Lines of a drawn table begin and end with a line. */
  private isFramed = false;
  /** Names that are all numbers may be those of a row as well. */
  private isOfNumbers = false;

  constructor(private readonly form: CsvForm) {}

  get isPadded(): boolean {
    return this.form.isPadded === true;
  }

  /** Fields of the header. */
  get width(): number | undefined {
    return this.header?.length;
  }

  /** The fields of a line as the table has them, the header first; undefined for a line that is none of its rows. */
  take(line: string[], mayHaveNuls: boolean): string[] | undefined {
    const own = mayHaveNuls ? this.afterNuls(line) : line;
    const row = this.form.isDrawn === true ? this.drawnRow(own) : this.withoutAnnotation(own);
    if (row === undefined) {
      return undefined;
    }
    if (this.header === undefined) {
      const { headerLines = 1, hasRowNames } = this.form;
      this.above.push(row);
      if (this.above.length < headerLines) {
        return undefined;
      }
      const own = headerLines > 1 ? joinedNames(this.above) : row;
      const names = hasRowNames === true ? ['', ...own] : own;
      this.header = names;
      this.isOfNumbers = names.every((name) => Number.isFinite(parseNumber(name, true)));
      return names.slice();
    }
    if (this.isOfTool(row)) {
      return undefined;
    }
    if (
      !this.isOfNumbers &&
      row.length > 1 &&
      row.length === this.header.length &&
      row.every((field, i) => field === this.header![i])
    ) {
      this.repeated++;
      return undefined;
    }
    return row;
  }

  /**
   * Fills a row up that has too few fields, with empty ones; false where that is an error.
   * @param number of the row, from 1
   */
  complete(row: string[], width: number, number: number): boolean {
    if (row.length >= width || this.form.isStrict === true) {
      return row.length === width;
    }
    this.firstShort ||= number;
    this.short++;
    while (row.length < width) {
      row.push('');
    }
    return true;
  }

  /** Whether a line below the header is no row, but one of the tool that wrote the table. */
  private isOfTool(row: readonly string[]): boolean {
    const { unitLines = 0 } = this.form;
    const below = this.below++;
    if (below < unitLines) {
      this.units ??= row;
      return true;
    }
    if (below === 0 && isDashes(row)) {
      this.isDashed = true;
      return true;
    }
    if (!isFooter(row, this.isDashed)) {
      return false;
    }
    this.footers++;
    this.firstFooter ||= row.join(this.form.delimiter).trim();
    return true;
  }

  /** The fields of a line of a drawn table, without what is drawn; undefined where it is no row. */
  private drawnRow(line: string[] | undefined): string[] | undefined {
    if (line === undefined || line.every((field) => field.trim() === '' || isRule(field))) {
      return undefined;
    }
    if (line.length === 1) {
      this.aside++;
      this.firstAside ||= line[0]!.trim();
      return undefined;
    }
    const fields = line.map((field) => field.trim());
    if (this.header === undefined) {
      this.isFramed = fields[0] === '' && fields.at(-1) === '';
    }
    return this.isFramed ? fields.slice(1, fields.at(-1) === '' ? -1 : undefined) : fields;
  }

  private withoutAnnotation(row: string[] | undefined): string[] | undefined {
    const [mark = ''] = row ?? [];
    if (row === undefined || this.form.isAnnotated !== true || (mark !== '' && !mark.startsWith('#'))) {
      return row;
    }
    return mark === '' && row.length > 1 ? row.slice(1) : undefined;
  }

  /**
   * What follows the last NUL of a line; undefined where that is no row of the table. NULs behind a field are padding, as
   * programs with fields of fixed width leave it.
   */
  private afterNuls(line: string[]): string[] | undefined {
    const last = line.findLastIndex((field) => field.includes('\0'));
    if (last < 0) {
      return line;
    }
    if (line.slice(0, -1).some((field) => PADDED.test(field)) && this.fits(line)) {
      const fields = line.map((field) => field.replace(PADDED, '$1'));
      if (!fields.some((field) => field.includes('\0'))) {
        return fields;
      }
    }
    const field = line[last]!;
    const row = [field.slice(field.lastIndexOf('\0') + 1), ...line.slice(last + 1)];
    const before = [...line.slice(0, last), field.slice(0, field.indexOf('\0'))];
    const isTorn = before.some((part) => part.trim() !== '');
    const isFilled = row.some((part) => part.trim() !== '');
    if (this.header === undefined) {
      if (isTorn) {
        throw invalidTable(
          `The text has NUL bytes behind ${show(before.join(this.form.delimiter))}, as a computer without power leaves them: the names of the columns are torn. Remove what stands before the line with the names.`,
        );
      }
      this.nulsAbove ||= isFilled;
      return isFilled ? row : undefined;
    }
    this.torn += isTorn ? 1 : 0;
    return isFilled && this.fits(row) ? row : undefined;
  }

  private fits(row: readonly string[]): boolean {
    return row.length === this.header?.length;
  }
}

/** A field with NULs behind it. */
const PADDED = /^([^\0]+)\0+$/;
