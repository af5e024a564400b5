import { SliceSizer } from '../../util/event-loop';
import { ServiceError } from '../../wire/service-error';
import { emptyTable, invalidTable, listNames } from '../cells/errors';
import type { Column, ColumnType, Label } from '../cells/types';
import { type SliceSource, tellRead } from '../columns/slices';
import { ColumnTypeInference } from './column-type';
import { type LookWarning, lookWarnings, type NamedLook, type Settled } from './findings';
import type { TargetTally } from './target-profile';

/** What the first pass over a table found out. */
export interface TableProfile {
  rows: number;
  /** All columns but the ignored ones, the target among them, in the order of the table. */
  columns: Column[];
  /** Bytes of the table as a file at most; compression makes it smaller. */
  bytes: number;
  /** Sentences for the user, such as a column of mixed kinds that is taken as text. */
  warnings: string[];
  target?: TargetProfile;
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
  types?: Readonly<Record<string, ColumnType>>;
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
  const wanted = wantedColumns(source.names, target, ignore);
  const tallies = wanted.map((index) => {
    const name = source.names[index]!;
    return new ColumnTypeInference(
      name,
      Object.hasOwn(types, name) ? types[name] : undefined,
      name === target,
    );
  });
  const sizer = new SliceSizer(wanted.length);
  let rows = 0;
  for await (const slice of source.slices({ sizer, wanted, signal })) {
    for (let i = 0; i < wanted.length; i++) {
      tallies[i]!.add(slice.column(wanted[i]!), slice.first);
    }
    rows += slice.rows;
    tellRead(onRead, source, slice);
    await sizer.step(signal);
  }
  if (rows === 0) {
    throw emptyTable(`The table has no rows, only the column names ${listNames(source.names)}.`);
  }
  const warnings = [
    ...unknownNames(source.names, Object.keys(types), 'A type is given for'),
    ...unknownNames(source.names, ignore, 'There is nothing to ignore in'),
  ];
  let bytes = FILE_BYTES;
  let targetFound: TargetProfile | undefined;
  const looks: NamedLook[] = [];
  const columns = tallies.map((tally) => {
    const settled = tally.settle();
    const { type, decimal, warning, look } = settled;
    if (warning !== undefined) {
      warnings.push(warning);
    }
    if (tally.target !== undefined) {
      targetFound = targetProfile(tally.name, settled, tally.target);
    } else if (look !== undefined) {
      looks.push({ name: tally.name, ...look });
    }
    bytes += tally.bytesAs(type) + COLUMN_BYTES + tally.name.length * 6;
    return { name: tally.name, type, ...(decimal !== undefined && { decimal }) };
  });
  warnings.push(...lookWarnings(looks).map(({ problem, keep }) => `${problem} ${keep}`));
  // Each row group has its own header of every column, of about a thousandth of what it may hold.
  const profile: TableProfile = { rows, columns, bytes: Math.ceil(bytes * 1.1), warnings };
  if (targetFound !== undefined) {
    profile.target = targetFound;
  }
  return profile;
}

function wantedColumns(
  names: readonly string[],
  target: string | undefined,
  ignore: readonly string[],
): number[] {
  if (target !== undefined && !names.includes(target)) {
    throw new ServiceError(
      'target.missing',
      `The table has no column "${target}" to predict. Its columns are ${listNames(names)}.`,
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

function targetProfile(name: string, settled: Settled, tally: TargetTally): TargetProfile {
  const { type, look, text } = settled;
  // Nobody predicts dates, so only numbers are worth a hint.
  const hint = look?.like.endsWith('number') && {
    ...lookWarnings([{ name, ...look }])[0]!,
    whole: look.whole,
  };
  return { name, type, ...tally.settle(settled), ...(text && { text }), ...(hint && { hint }) };
}

function* unknownNames(names: readonly string[], wanted: readonly string[], what: string): Iterable<string> {
  const known = new Set(names);
  for (const name of new Set(wanted)) {
    if (!known.has(name)) {
      yield `${what} column "${name}", which the table does not have.`;
    }
  }
}
