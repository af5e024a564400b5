import { SliceSizer, Yielder } from '../../util/concurrency';
import { isDate } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { looksLikeValue } from '../cells/classify';
import { emptyTable, invalidTable, isLong, listNames } from '../cells/errors';
import { knownZone } from '../cells/parse-date';
import type { Column, ColumnType, GivenType, Label } from '../cells/types';
import { assertNames, COLUMNS_PER_LOOK, datesAmong, datesInHeader } from '../columns/header';
import { MissingWords, plainCells, type SliceColumn, type SliceSource, tellRead } from '../columns/slices';
import { ColumnTypeInference, type TargetTally } from './column-type';
import {
  dateNumbersWarning,
  type LookWarning,
  lookWarnings,
  type NamedLook,
  paddingWarnings,
  type Settled,
  totalWarning,
} from './findings';
import { withMarkOf } from './text-readings';

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
  const words = new MissingWords(reading.missing ?? []);
  assertNames(source.names);
  const wanted = wantedColumns(source, target, ignore);
  const tallies = await mapped(wanted, (index) => {
    const name = source.names[index]!;
    return new ColumnTypeInference(
      name,
      Object.hasOwn(types, name) ? types[name] : undefined,
      name === target,
      reading.unreadable,
    );
  });
  const sizer = new SliceSizer(wanted.length);
  let rows = 0;
  const different = new DistinctRows();
  const yielder = new Yielder();
  for await (const slice of source.slices({ sizer, wanted, signal })) {
    for (let i = 0; i < wanted.length; i++) {
      const { column } = words.clear(slice.column(wanted[i]!));
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
  const warnings = [
    ...(source.warnings ?? []),
    ...dateNames(source.names),
    ...unknownNames(source.names, Object.keys(types), 'A type is given for'),
    ...unknownNames(source.names, ignore, 'There is nothing to ignore in'),
  ];
  let bytes = FILE_BYTES;
  let targetFound: TargetProfile | undefined;
  const looks: NamedLook[] = [];
  const padded: { name: string; cell: string }[] = [];
  const marks = new Set(tallies.flatMap((tally) => tally.ofFile?.fields.certainMark ?? []));
  const columns = await mapped(tallies, (tally) => {
    const settled = withMarkOf(marks, tally.name, tally.settle(), tally.ofFile);
    const { type, decimal, order, years, unit, numbers, warning, look } = settled;
    const trim = settled.padded === undefined ? undefined : true;
    if (settled.padded !== undefined) {
      padded.push({ name: tally.name, cell: settled.padded });
    }
    const total = settled.words === undefined ? undefined : totalWarning(tally.name, settled.words);
    warnings.push(...[warning, total].filter((text) => text !== undefined));
    const { firstNumber } = tally;
    const isFeature = tally.target === undefined && ['integer', 'number', 'bigint'].includes(type);
    const maybeDates = isFeature && firstNumber !== undefined && dateNumbersWarning(tally.name, firstNumber);
    if (maybeDates) {
      warnings.push(maybeDates);
    }
    if (tally.target !== undefined) {
      targetFound = targetProfile(tally.name, { ...settled, trim }, tally.target);
    } else if (look !== undefined) {
      looks.push({ name: tally.name, ...look });
    }
    bytes += tally.bytesAs(type) + COLUMN_BYTES + tally.name.length * 6;
    const zone = type === 'date' ? reading.zone : undefined;
    const required = tally.target !== undefined && options.missingTarget === 'leaveOut';
    const { missing } = reading;
    // A target that must not be missing must not become so either.
    const strict = tally.target !== undefined && !required;
    const unreadable = strict ? undefined : reading.unreadable;
    const column: Column = {
      ...{ name: tally.name, type, decimal, order, years, unit, numbers },
      ...{ trim, zone, missing, unreadable, required: required ? true : undefined },
    };
    return withoutUndefined(column);
  });
  warnings.push(...paddingWarnings(padded));
  warnings.push(...lookWarnings(looks).map(({ problem, keep }) => `${problem} ${keep}`));
  // Each row group has its own header of every column, of about a thousandth of what it may hold.
  const profile: TableProfile = { rows, columns, bytes: Math.ceil(bytes * 1.1), warnings };
  if (targetFound !== undefined) {
    profile.target = targetFound;
  }
  if (different.count !== undefined) {
    profile.distinctRows = different.count;
  }
  return profile;
}

/** Without what is undefined, so that a column reads well on a model card. */
function withoutUndefined(column: Column): Column {
  return Object.fromEntries(Object.entries(column).filter(([, value]) => value !== undefined)) as Column;
}

/** How the cells of every column are read. */
function columnReading({
  missingWords = [],
  unreadable,
  timezone,
}: ProfileOptions): Omit<Column, 'name' | 'type'> {
  const zone = timezone === undefined ? undefined : knownZone(timezone);
  if (timezone !== undefined && zone === undefined) {
    throw new ServiceError(
      'config.invalid',
      `"${timezone}" is not a time zone. Give a name such as Europe/Berlin, America/New_York or UTC.`,
    );
  }
  return {
    zone: zone === 'UTC' ? undefined : zone,
    missing: missingWords.length > 0 ? missingWords : undefined,
    unreadable: unreadable === 'missing' ? 'missing' : undefined,
  };
}

/** As `map`, for the columns of a table: the event loop has its turns between many of them. */
async function mapped<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const yielder = new Yielder();
  const results: R[] = [];
  for (const item of items) {
    results.push(make(item));
    if (results.length % COLUMNS_PER_LOOK === 0) {
      await yielder.due();
    }
  }
  return results;
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
  const wanted = names.flatMap((name, index) => (left.has(name) && name !== target ? [] : [index]));
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
  const values = names.filter((name) => name === '' || looksLikeValue(name));
  return values.length * 2 > names.length
    ? ' These look like values: the table may lack a first line with the names of its columns.'
    : '';
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

function dateNames(names: readonly string[]): string[] {
  const dates = datesAmong(names);
  return dates === undefined
    ? []
    : [
        `${datesInHeader(dates)} A model takes each for a column of its own, which no later row will have. If they are times, give a row for each time, or the table to a series node.`,
      ];
}

function* unknownNames(names: readonly string[], wanted: readonly string[], what: string): Iterable<string> {
  const known = new Set(names);
  for (const name of new Set(wanted)) {
    if (!known.has(name)) {
      yield `${what} column "${name}", which the table does not have.`;
    }
  }
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

  /** How many there are, undefined where they are many, or most of them differ. */
  get count(): number | undefined {
    return this.isCounting && this.seen.size * 2 <= this.rows ? this.seen.size : undefined;
  }

  private get isCounting(): boolean {
    return this.seen.size <= MAX_DISTINCT && this.rows <= MAX_COUNTED;
  }

  add(column: SliceColumn): void {
    if (this.isCounting) {
      // The cells of a slice may be valid only until the next column is asked for.
      this.columns.push(Array.from(plainCells(column)));
    }
  }

  endSlice(rows: number): void {
    for (let row = 0; row < rows && this.columns.length > 0 && this.isCounting; row++) {
      this.seen.add(this.columns.map((cells) => keyOf(cells[row])).join('\0'));
    }
    this.rows += rows;
    this.columns = [];
  }
}

/** Cells with equal keys count as equal; of long text the beginning tells. */
function keyOf(cell: unknown): string {
  if (typeof cell === 'string') {
    return cell.slice(0, 1000);
  }
  const isPlain =
    typeof cell === 'bigint' ? !isLong(cell) : typeof cell !== 'object' || cell === null || isDate(cell);
  return isPlain ? String(cell) : typeof cell;
}
