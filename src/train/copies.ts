import {
  ColumnSplit,
  FEWEST_COLUMNS,
  FEWEST_TOGETHER,
  MISSING_WORD,
  PrivateValues,
  RowDigests,
  RowKinds,
  RowsButOne,
} from '../metrics/repeated-rows';
import { rise, StillRows } from '../metrics/still-rows';
import type { Column } from '../table/cells/types';
import { type ColumnBatch, type ColumnData, isMissing } from '../table/columns/column-batch';
import type { TableProfile } from '../table/inference/profile';
import type { TableSource } from '../table/open';
import { Yielder } from '../util/concurrency';
import type { RowFacts } from './holdout-plan';

interface DigestedColumns {
  /** Read as these types, in this order. */
  features: readonly Column[];
  /** As the table's profile has it: rows without one are left out where it is required. */
  target: Column;
}

/** A digest of each row of a train set that has a target: equal for rows with equal features and an equal target. */
export async function digestRows(
  source: TableSource,
  { features, target }: DigestedColumns,
  facts: Pick<RowFacts, 'rows' | 'task' | 'codes' | 'classes' | 'values'>,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const all = new Float64Array(facts.rows);
  const yielder = new Yielder();
  let first = 0;
  for await (const batch of source.batches([...features, target], { signal })) {
    const digests = await computeDigests(batch.rows, batch.columns.slice(0, features.length), yielder);
    addTarget(facts, first, digests);
    for (let row = 0; row < batch.rows; row++) {
      all[first + row] = digests.of(row);
    }
    first += batch.rows;
  }
  return all;
}

/** Digests of some cells of each row of a batch. */
async function computeDigests(
  rows: number,
  columns: readonly ColumnData[],
  yielder: Yielder,
): Promise<RowDigests> {
  const digests = new RowDigests(rows);
  await addColumns(columns, digests, yielder);
  return digests;
}

async function addColumns(
  columns: readonly ColumnData[],
  digests: RowDigests,
  yielder: Yielder,
): Promise<void> {
  for (const column of columns) {
    await addColumn(column, digests, yielder);
    await yielder.due();
  }
}

async function addColumn(column: ColumnData, digests: RowDigests, yielder: Yielder): Promise<void> {
  switch (column.type) {
    case 'number':
    case 'integer':
    case 'date':
      for (let row = 0; row < digests.rows; row++) {
        digests.addNumber(row, column.values[row]!);
      }
      return;
    case 'boolean':
      for (let row = 0; row < digests.rows; row++) {
        digests.add(row, column.values[row]!);
      }
      return;
    case 'bigint':
      column.values.forEach((value, row) => {
        const isMissing = column.missing?.[row] === 1;
        digests.add(row, isMissing ? MISSING_WORD : Number(BigInt.asIntN(32, value)));
        digests.add(row, isMissing ? MISSING_WORD : Number(BigInt.asIntN(32, value >> 32n)));
      });
      return;
    case 'text':
      for (let row = 0; row < digests.rows; row++) {
        const [from, to] = [column.offsets[row]!, column.offsets[row + 1]!];
        digests.add(row, column.missing?.[row] === 1 ? MISSING_WORD : to - from);
        for (let at = from; at < to; at++) {
          digests.add(row, column.bytes[at]!);
          if (yielder.isDueAt(at)) {
            await yielder.yield();
          }
        }
      }
  }
}

function addTarget(
  { task, codes, classes, values }: Pick<RowFacts, 'task' | 'codes' | 'classes' | 'values'>,
  first: number,
  digests: RowDigests,
): void {
  if (task === 'regression') {
    values.subarray(first, first + digests.rows).forEach((value, row) => digests.addNumber(row, value));
    return;
  }
  // The same label has another code in another table.
  const texts = classes.map((label) => Buffer.from(String(label)));
  for (let row = 0; row < digests.rows; row++) {
    for (const byte of texts[codes[first + row]!] ?? []) {
      digests.add(row, byte);
    }
  }
}

/** Rows of a train set that stand in it more than once, more often than chance explains. */
export interface Copies {
  /** Per row, 1 if it repeats an earlier one. */
  is: Uint8Array;
  count: number;
}

/**
 * Looks for copies, in a pass over the rows, and in others where any two rows are equal. Undefined where there are none, or no
 * more than chance explains.
 *
 * @param columns all that tell rows apart, the target among them; rows without a target do not count where it is required
 * @param areTogether rows in order of time or of groups are copies only where a date is the same too, but for a reading that
 * fills a day
 */
export async function findCopies(
  source: TableSource,
  { columns, rows, target }: Pick<TableProfile, 'columns' | 'rows' | 'target'>,
  areTogether: boolean,
  signal: AbortSignal | undefined,
): Promise<Copies | undefined> {
  const measured = columns.filter(({ type }) => type !== 'date');
  const dates = columns.filter(({ type }) => type === 'date');
  const [kinds, readings] = [new RowKinds(rows), new RowKinds(rows)];
  const rising = new RisingColumns(measured, target?.name);
  // What rises in the first batch mostly does to the end.
  let risesAtFirst: ReadonlySet<string> | undefined;
  const yielder = new Yielder();
  for await (const batch of source.batches([...measured, ...dates], { signal })) {
    rising.look(batch);
    const clocks = (risesAtFirst ??= new Set(rising.names.keys()));
    const isReading = (_: ColumnData, at: number): boolean =>
      at < measured.length && !clocks.has(measured[at]!.name);
    const digests = await computeDigests(batch.rows, batch.columns.filter(isReading), yielder);
    for (let row = 0; row < batch.rows; row++) {
      readings.add(digests.of(row));
    }
    const others = batch.columns.filter((column, at) => !isReading(column, at));
    await addColumns(others, digests, yielder);
    for (let row = 0; row < batch.rows; row++) {
      kinds.add(digests.of(row));
    }
    await yielder.due();
  }
  const told = measured.filter(({ name }) => !rising.names.has(name));
  const isAsAtFirst = rising.names.size === (risesAtFirst?.size ?? 0);
  const toldKinds = isAsAtFirst ? readings : await readKinds(source, told, rows, signal);
  const still = await findStill(source, told, toldKinds, signal);
  const mayBeCopied = !kinds.areAllDifferent && (!areTogether || dates.length > 0);
  const isCopied =
    mayBeCopied && (kinds.times > 1 || (await areMoreThanChance(source, columns, kinds, signal)));
  if (!isCopied && still === undefined) {
    return undefined;
  }
  const copies = isCopied ? kinds.copies() : undefined;
  const is = Uint8Array.from(kinds.all, (_, row) => (copies?.[row] === 1 || still?.[row] === 1 ? 1 : 0));
  return { is, count: is.reduce((sum, one) => sum + one, 0) };
}

/** The features that are numbers which rise from row to row, of all batches so far. */
class RisingColumns {
  /** The last number of each, by name. */
  readonly names = new Map<string, number>();

  /** @param columns as those of the batches begin */
  constructor(
    private readonly columns: readonly Column[],
    target: string | undefined,
  ) {
    for (const { name, type } of columns) {
      if (name !== target && (type === 'number' || type === 'integer' || type === 'bigint')) {
        this.names.set(name, -Infinity);
      }
    }
  }

  look(batch: ColumnBatch): void {
    for (const [at, { name }] of this.columns.entries()) {
      const before = this.names.get(name);
      if (before === undefined) {
        continue;
      }
      const { values } = batch.columns[at] as ColumnData & { type: 'number' | 'bigint' };
      const numbers = values instanceof BigInt64Array ? Float64Array.from(values, Number) : values;
      if (rise(numbers, before)) {
        this.names.set(name, numbers.at(-1) ?? before);
      } else {
        this.names.delete(name);
      }
    }
  }
}

/** The kinds of rows by these columns. */
async function readKinds(
  source: TableSource,
  columns: readonly Column[],
  rows: number,
  signal: AbortSignal | undefined,
): Promise<RowKinds> {
  const kinds = new RowKinds(rows);
  const yielder = new Yielder();
  for await (const batch of source.batches(columns, { signal })) {
    const digests = await computeDigests(batch.rows, batch.columns, yielder);
    for (let row = 0; row < batch.rows; row++) {
      kinds.add(digests.of(row));
    }
    await yielder.due();
  }
  return kinds;
}

/** Per row, 1 if it repeats the reading of a machine that stands still; undefined where none does. */
async function findStill(
  source: TableSource,
  columns: readonly Column[],
  readings: RowKinds,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const still = new StillRows(readings, columns.length);
  const firsts = still.firstRows;
  if (firsts.length === 0) {
    return undefined;
  }
  const found = firsts.map(() => new Int32Array(columns.length));
  for await (const { cells, first, batch } of readCells(source, columns, signal)) {
    firsts.forEach((row, candidate) => {
      if (row >= first && row < first + batch.rows) {
        cells.forEach((column, at) => (found[candidate]![at] = column[row - first]!));
      }
    });
  }
  const yielder = new Yielder();
  for await (const { cells, batch } of readCells(source, columns, signal)) {
    for (const [candidate, own] of found.entries()) {
      for (let row = 0; row < batch.rows; row++) {
        still.add(
          candidate,
          cells.reduce((count, column, at) => count + (column[row] === own[at] ? 0 : 1), 0),
        );
      }
      await yielder.due();
    }
  }
  return still.repeats();
}

async function areMoreThanChance(
  source: TableSource,
  columns: readonly Column[],
  kinds: RowKinds,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (columns.length < FEWEST_TOGETHER) {
    return false;
  }
  const values = columns.map(() => new PrivateValues(kinds));
  const splits = columns.map(() => new ColumnSplit());
  const mayBeCopied = kinds.mayBeCopied(columns.length);
  const yielder = new Yielder();
  for await (const { batch, cells, first } of readCells(source, columns, signal)) {
    for (const [at, column] of batch.columns.entries()) {
      for (let row = 0; row < batch.rows; row++) {
        if (mayBeCopied) {
          splits[at]!.add(cells[at]![row]!, first + row);
        }
        if (!isMissing(column, row)) {
          values[at]!.add(cells[at]![row]!, first + row);
        }
      }
      await yielder.due();
    }
  }
  const isNarrow = columns.length < FEWEST_COLUMNS;
  if (!isNarrow && values.some((one) => one.tellOfCopies())) {
    return true;
  }
  if (!mayBeCopied || (isNarrow && !values.some((one) => one.areOfMostKinds))) {
    return false;
  }
  const rows = new RowsButOne(kinds, splits);
  const own = new Int32Array(columns.length);
  for await (const { batch, cells, first } of readCells(source, columns, signal)) {
    for (let row = 0; row < batch.rows; row++) {
      cells.forEach((column, at) => (own[at] = column[row]!));
      rows.add(own, first + row);
      if (yielder.isDueAt(row)) {
        await yielder.yield();
      }
    }
  }
  return rows.tellOfCopies();
}

/** Per batch of a table, a digest of each cell: columns × rows, 32 bits. `first` is the number of its first row. */
async function* readCells(
  source: TableSource,
  columns: readonly Column[],
  signal: AbortSignal | undefined,
): AsyncGenerator<{ batch: ColumnBatch; cells: Int32Array[]; first: number }> {
  const yielder = new Yielder();
  let first = 0;
  for await (const batch of source.batches(columns, { signal })) {
    const cells: Int32Array[] = [];
    for (const column of batch.columns) {
      const digests = await computeDigests(batch.rows, [column], yielder);
      cells.push(Int32Array.from({ length: batch.rows }, (_, row) => digests.of(row) | 0));
      await yielder.due();
    }
    yield { batch, cells, first };
    first += batch.rows;
  }
}
