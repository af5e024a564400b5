import { SliceSizer, Yielder } from '../../util/concurrency';
import { isDate } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { looksLikeValue } from '../cells/classify';
import { assertZone } from '../cells/parse-date';
import { parseNumber } from '../cells/parse-number';
import {
  type Column,
  type ColumnType,
  type Decimal,
  emptyTable,
  type GivenType,
  invalidTable,
  isLong,
  type Label,
  listNames,
} from '../cells/types';
import { assertNames, COLUMNS_PER_LOOK, datesAmong, datesInHeader } from '../columns/header';
import { MissingWords, plainCells, type SliceColumn, type SliceSource, tellRead } from '../columns/slices';
import { ColumnTypeInference, type TargetTally } from './column-type';
import {
  dateNumbersWarning,
  type LookWarning,
  lookWarnings,
  type NamedLook,
  nameInFirstRow,
  namesInRowWarning,
  paddingWarning,
  type Settled,
  totalWarning,
} from './findings';
import { settleMark } from './text-readings';

/** What the first pass over a table found out. */
export interface TableProfile {
  /** All rows; without those that lack a required target, the train set has fewer. */
  rows: number;
  /** All columns but the ignored ones, the target among them, in the order of the table. */
  columns: Column[];
  /** Bytes of the table as a file at most; compression makes it smaller. */
  bytes: number;
  /** Sentences for the user, such as a column of mixed kinds that is taken as text. */
  warnings: string[];
  target?: TargetProfile;
  /** How many different rows there are, where they are few and the table is not long. */
  distinctRows?: number;
}

export interface TargetProfile {
  name: string;
  type: ColumnType;
  /** Rows without a value, and the first of them, from 0. */
  missing: number;
  firstMissing?: number;
  /** Distinct values; 1,001 stands for more than 1,000. */
  distinct: number;
  /** All distinct values, sorted (numbers by value, text by code point), where there are at most 1,000. */
  classes?: Label[];
  /** Where nearly all of it reads as numbers or dates: the words that do not, and what to do. */
  oddWords?: string;
  /** What makes the target text: its first cell that is text, from row 0. */
  text?: { row: number; value: unknown };
  /** Sentences for the user, where the target is text that looks like numbers; `whole`: like whole ones. */
  hint?: LookWarning & { whole: boolean };
}

export interface ProfileOptions {
  target?: string;
  /** Columns to leave out. */
  ignore?: readonly string[];
  /** Types that the user gives, by column; they are not looked for in the cells. */
  types?: Readonly<Record<string, GivenType>>;
  /** Rows without a target: left out, or counted only (default). */
  missingTarget?: 'leaveOut' | 'error';
  /** Words that mean "missing", besides NA and the like. */
  missingWords?: readonly string[];
  /** Cells that cannot be read: missing, or an error (default). */
  unreadable?: 'missing' | 'error';
  /** The zone of dates, an IANA name: text without a zone is in it, and all are held as its local time. Default UTC. */
  timezone?: string;
  signal?: AbortSignal;
  /** Told the part of the table that has been looked at, 0 to 1, where its size is known. */
  onRead?: (part: number) => void;
}

/** What a file needs besides its cells: once, and for each column. */
const FILE_BYTES = 2048;
const COLUMN_BYTES = 512;

/**
 * Goes over all rows once and settles the type of every column. Errors:
 * `target.missing`, `table.empty`, `table.invalid` (a nested cell, a ragged row, no column left).
 */
export async function profileSource(source: SliceSource, options: ProfileOptions): Promise<TableProfile> {
  const { target, ignore = [], types = {}, signal, onRead } = options;
  const reading = columnReading(options);
  const words = reading.missing && new MissingWords(reading.missing);
  assertNames(source.names);
  const wanted = wantedColumns(source, target, ignore);
  const yielder = new Yielder();
  const tallies: ColumnTypeInference[] = [];
  for (const index of wanted) {
    const name = source.names[index]!;
    const given = Object.hasOwn(types, name) ? types[name] : undefined;
    tallies.push(new ColumnTypeInference(name, given, name === target, reading.unreadable));
    if (tallies.length % COLUMNS_PER_LOOK === 0) {
      await yielder.due();
    }
  }
  const sizer = new SliceSizer(wanted.length);
  let rows = 0;
  const different = new DistinctRows();
  for await (const slice of source.slices({ sizer, wanted, signal })) {
    for (let i = 0; i < wanted.length; i++) {
      const cells = slice.column(wanted[i]!);
      const column = words === undefined ? cells : words.clear(cells).column;
      tallies[i]!.add(column, slice.first);
      different.add(column);
      if (i % COLUMNS_PER_LOOK === COLUMNS_PER_LOOK - 1) {
        await yielder.due();
      }
    }
    different.endSlice(slice.rows);
    rows += slice.rows;
    tellRead(onRead, source, slice);
    await sizer.step(signal);
  }
  if (rows === 0) {
    throw emptyTable(`The table has no rows, only the column names ${listNames(source.names)}.`);
  }
  const settled = await settleColumns(tallies, reading, options.missingTarget === 'leaveOut');
  const distinctRows = different.count;
  return {
    rows,
    ...settled,
    warnings: [...(source.warnings ?? []), ...nameWarnings(source.names, options), ...settled.warnings],
    ...(distinctRows !== undefined && { distinctRows }),
  };
}

/** What the cells of the columns, gone over, say of them. */
async function settleColumns(
  tallies: readonly ColumnTypeInference[],
  reading: Omit<Column, 'name' | 'type'>,
  leavesOut: boolean,
): Promise<Pick<TableProfile, 'columns' | 'bytes' | 'warnings' | 'target'>> {
  const marks = new Set<Decimal>();
  for (const tally of tallies) {
    const mark = tally.ofFile?.fields.certainMark;
    if (mark !== undefined) {
      marks.add(mark);
    }
  }
  const columns: Column[] = [];
  const warnings: string[] = [];
  let bytes = FILE_BYTES;
  let target: TargetProfile | undefined;
  const looks: NamedLook[] = [];
  const padded: { name: string; cell: string }[] = [];
  /** What may be names of columns in the first row. */
  const inRow: { name: string; warning: string }[] = [];
  const yielder = new Yielder();
  for (const tally of tallies) {
    const { name } = tally;
    const settled = settleMark(marks, name, tally.settle(), tally.ofFile);
    const { type, decimal, order, years, unit, numbers, look } = settled;
    const trim = settled.padded === undefined ? undefined : true;
    if (settled.padded !== undefined) {
      padded.push({ name, cell: settled.padded });
    }
    const inFirstRow = settled.words && nameInFirstRow(settled.words);
    if (inFirstRow !== undefined && settled.warning !== undefined) {
      inRow.push({ name: inFirstRow, warning: settled.warning });
    } else if (settled.warning !== undefined) {
      warnings.push(settled.warning);
    }
    const total = settled.words && totalWarning(name, settled.words);
    if (total !== undefined) {
      warnings.push(total);
    }
    if (tally.target !== undefined) {
      target = targetProfile(name, { ...settled, trim }, tally.target);
    } else {
      const maybeDates = ['integer', 'number', 'bigint'].includes(type)
        ? dateNumbersWarning(name, tally.firstNumber)
        : undefined;
      if (maybeDates !== undefined) {
        warnings.push(maybeDates);
      }
      if (look !== undefined) {
        looks.push({ name, ...look });
      }
    }
    bytes += tally.size.bytesAs(type) + COLUMN_BYTES + name.length * 6;
    // A target that must not be missing must not become so either.
    const isStrict = tally.target !== undefined && !leavesOut;
    const isRequired = tally.target !== undefined && leavesOut;
    // What is undefined is left out, so that a column reads well on a model card.
    columns.push({
      name,
      type,
      ...(decimal !== undefined && { decimal }),
      ...(order !== undefined && { order }),
      ...(years !== undefined && { years }),
      ...(unit !== undefined && { unit }),
      ...(numbers !== undefined && { numbers }),
      ...(trim !== undefined && { trim }),
      ...(type === 'date' && reading.zone !== undefined && { zone: reading.zone }),
      ...(reading.missing !== undefined && { missing: reading.missing }),
      ...(!isStrict && reading.unreadable !== undefined && { unreadable: reading.unreadable }),
      ...(isRequired && { required: true }),
    });
    if (columns.length % COLUMNS_PER_LOOK === 0) {
      await yielder.due();
    }
  }
  if (inRow.length > 1) {
    warnings.push(namesInRowWarning(inRow.map(({ name }) => name)));
  } else {
    warnings.push(...inRow.map(({ warning }) => warning));
  }
  if (padded.length > 0) {
    warnings.push(paddingWarning(padded));
  }
  for (const { problem, keep } of lookWarnings(looks)) {
    warnings.push(`${problem} ${keep}`);
  }
  // Each row group has its own header of every column, of about a thousandth of what it may hold.
  return { columns, bytes: Math.ceil(bytes * 1.1), warnings, ...(target !== undefined && { target }) };
}

/** How the cells of every column are read. */
function columnReading({
  missingWords = [],
  unreadable,
  timezone,
}: ProfileOptions): Omit<Column, 'name' | 'type'> {
  const zone = timezone === undefined ? undefined : assertZone(timezone);
  return {
    zone: zone === 'UTC' ? undefined : zone,
    missing: missingWords.length > 0 ? missingWords : undefined,
    unreadable: unreadable === 'missing' ? 'missing' : undefined,
  };
}

function wantedColumns(
  { names, warnings = [] }: Pick<SliceSource, 'names' | 'warnings'>,
  target: string | undefined,
  ignore: readonly string[],
): number[] {
  if (target !== undefined && !names.includes(target)) {
    throw new ServiceError(
      'target.missing',
      `The table has no column "${target}" to predict. Its columns are ${listNames(names)}.${headerHint(names)}${warnings.map((one) => ` ${one}`).join('')}`,
    );
  }
  const left = new Set(ignore);
  const wanted: number[] = [];
  for (const [index, name] of names.entries()) {
    if (!left.has(name) || name === target) {
      wanted.push(index);
    }
  }
  if (wanted.length === 0 || (target !== undefined && wanted.length === 1)) {
    throw invalidTable(
      target === undefined
        ? 'No column of the table is left: all are ignored.'
        : `The table has no column besides the target "${target}" to learn from.`,
    );
  }
  return wanted;
}

/** Where the names look like values, the first line of the table may be a row. */
function headerHint(names: readonly string[]): string {
  return areMostlyValues(names)
    ? ' These look like values: the table may lack a first line with the names of its columns.'
    : '';
}

function areMostlyValues(names: readonly string[]): boolean {
  return names.filter((name) => name === '' || looksLikeValue(name)).length * 2 > names.length;
}

/** Fewer numbers rise by chance. */
const MIN_SCALE = 3;

/**
 * Whether names are like a row of measurements. Years, quantiles, wavelengths and the like are names as well, and
 * rise.
 */
function areLikeRow(names: readonly string[]): boolean {
  if (!areMostlyValues(names)) {
    return false;
  }
  const values = names.filter(looksLikeValue);
  const numbers = values.map((name) => parseNumber(name, true) ?? NaN).filter(Number.isFinite);
  const isRising = numbers.every((value, i) => i === 0 || value > numbers[i - 1]!);
  const isScale = numbers.length >= MIN_SCALE && isRising;
  return !isScale && !numbers.every(Number.isInteger);
}

function targetProfile(
  name: string,
  settled: Settled & Pick<Column, 'trim'>,
  tally: TargetTally,
): TargetProfile {
  const { type, look, text, words, warning } = settled;
  // Nobody predicts dates, so only numbers are worth a hint.
  const hint = look?.like.endsWith('number') && {
    ...lookWarnings([{ name, ...look }])[0]!,
    whole: look.whole,
  };
  const found = { name, type, ...tally.settle(settled), ...(text && { text }), ...(hint && { hint }) };
  if (words === undefined) {
    return found;
  }
  if (type === 'text') {
    return { ...found, oddWords: warning };
  }
  // The words are missing values.
  const first = Math.min(words.list[0]!.row, found.firstMissing ?? Infinity);
  return { ...found, missing: found.missing + words.odd, firstMissing: first };
}

/** What the user is told of the names of the columns, and of names that the table does not have. */
function nameWarnings(
  names: readonly string[],
  { ignore = [], types = {} }: ProfileOptions,
): readonly string[] {
  const warnings: string[] = [];
  const dates = datesAmong(names);
  if (dates !== undefined) {
    warnings.push(
      `${datesInHeader(dates)} A model takes each for a column of its own, which no later row will have. If they are times, give a row for each time, or the table to a series node.`,
    );
  }
  if (areLikeRow(names)) {
    warnings.push(
      `The names of the columns look like values (${listNames(names)}). If the table lacks a first line with names, its first row is taken for them: write such a line, or name the columns in a csv node.`,
    );
  }
  const known = new Set(names);
  for (const [what, wanted] of [
    ['A type is given for', Object.keys(types)],
    ['There is nothing to ignore in', ignore],
  ] as const) {
    for (const name of new Set(wanted)) {
      if (!known.has(name)) {
        warnings.push(`${what} column "${name}", which the table does not have.`);
      }
    }
  }
  return warnings;
}

/** More different rows than these are not few. */
const MAX_DISTINCT = 50;
/** In a longer table they are not counted. */
const MAX_COUNTED = 5000;

/** Counts the different rows of a table, as long as they are few. */
class DistinctRows {
  private readonly seen = new Set<string>();
  private rows = 0;
  private columns: ArrayLike<unknown>[] = [];
  private isCounting = true;

  /** How many there are, undefined where they are many, or most of them differ. */
  get count(): number | undefined {
    return this.isCounting && this.seen.size * 2 <= this.rows ? this.seen.size : undefined;
  }

  add(column: SliceColumn): void {
    if (this.isCounting) {
      // The cells of a slice may be valid only until the next column is asked for.
      this.columns.push(Array.from(plainCells(column)));
    }
  }

  endSlice(rows: number): void {
    for (let row = 0; row < rows && this.columns.length > 0 && this.seen.size <= MAX_DISTINCT; row++) {
      let key = '';
      for (const cells of this.columns) {
        key += `${makeKey(cells[row])}\0`;
      }
      this.seen.add(key);
    }
    this.rows += rows;
    this.isCounting = this.seen.size <= MAX_DISTINCT && this.rows <= MAX_COUNTED;
    this.columns = [];
  }
}

/** Cells with equal keys count as equal; of long text the beginning tells. */
function makeKey(cell: unknown): string {
  if (typeof cell === 'string') {
    return cell.slice(0, 1000);
  }
  const isPlain =
    typeof cell === 'bigint' ? !isLong(cell) : typeof cell !== 'object' || cell === null || isDate(cell);
  return isPlain ? String(cell) : typeof cell;
}
