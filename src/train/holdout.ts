import type { Column, FileFormat, Label } from '../table/cells/types';
import { batchBytes, type ColumnBatch, numberAt, pickRows, sliceBatch } from '../table/columns/column-batch';
import type { SampleChoice } from '../table/columns/table-sample';
import { encodeTrainColumns, type TrainSetFiles } from '../table/encoder/encode';
import type { TableSource } from '../table/open';
import { Yielder } from '../util/concurrency';
import { HELD, KEPT, type RowFacts } from './holdout-plan';

/** Held-out rows stay in memory up to this many bytes; beyond them the table is read again. */
const HELD_BYTES = 32 * 1024 * 1024;

/** Rows of a train set that the fit does not see. */
export interface Holdout {
  /** Rows kept back, and rows left for the fit. */
  rows: number;
  kept: number;
  /** The features of the rows kept back. */
  batches: () => AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>;
  /** The target of the rows kept back and of those left, in the order of the table. */
  truth: Truth;
  /** Their numbers in the table, from 0. */
  numbers: Int32Array;
}

/** Classification: codes that index `classes`. Regression: numbers. */
export type Truth =
  | { task: 'classification'; classes: Label[]; held: number[]; keptCounts: number[] }
  | { task: 'regression'; held: number[]; kept: Float64Array };

interface SplitOptions {
  format?: FileFormat;
  compress: boolean;
  /** What to take of the rows that go into the files. */
  sample?: SampleChoice;
  signal?: AbortSignal;
  /** Called with the number of rows written so far. */
  onProgress?: (rows: number) => void;
}

/** What goes into the files of a train set, where it is not the table as it is. */
export interface RowPlan {
  /** What becomes of each row. */
  plan: Uint8Array;
  /** Rows that go into the files. */
  kept: number;
  /** The column that the target is learned relative to. */
  relativeTo?: string;
  /** Left out where no row is held out. */
  holdout?: Holdout;
}

interface HeldColumns {
  columns: readonly Column[];
  target: string;
  features: readonly Column[];
}

/** The rows kept back by a plan, and the truth of them. */
export async function holdoutOf(
  source: TableSource,
  columns: HeldColumns,
  { facts, plan }: { facts: RowFacts; plan: Uint8Array },
  signal: AbortSignal | undefined,
): Promise<Holdout> {
  const { truth, rows, heldRows: numbers } = await truthOf(facts, plan);
  const batches = (): AsyncIterable<ColumnBatch> => heldRows(source, columns, plan, signal);
  return { rows, kept: countOf(plan, KEPT), batches, truth, numbers };
}

/**
 * The train set by a plan of its rows, as its two files, in one pass. The rows kept back are gathered in the same
 * pass, where there is room for them: `holdout.batches` then reads nothing.
 */
export async function encodePlanned(
  source: TableSource,
  { columns, target, features }: HeldColumns,
  { plan, holdout, relativeTo }: RowPlan,
  { sample, signal, ...written }: SplitOptions,
): Promise<TrainSetFiles> {
  const held: ColumnBatch[] = [];
  let bytes = 0;
  const keep = (batch: ColumnBatch): void => {
    bytes += batchBytes(batch);
    if (bytes <= HELD_BYTES) {
      held.push(batch);
    }
  };
  const indexOf = (name: string): number => columns.findIndex((column) => column.name === name);
  const own = features.map(({ name }) => indexOf(name));
  const [targetAt, relativeAt] = [indexOf(target), relativeTo === undefined ? -1 : indexOf(relativeTo)];
  const kept = async function* (): AsyncGenerator<ColumnBatch> {
    for await (const [batch, first] of numbered(source.batches(columns, { signal }))) {
      const back = holdout === undefined ? [] : rowsWhere(batch, plan, first, HELD);
      if (back.length > 0 && bytes <= HELD_BYTES) {
        keep(pickRows({ rows: batch.rows, columns: own.map((index) => batch.columns[index]!) }, back));
      }
      const others = rowsWhere(batch, plan, first, KEPT);
      if (others.length > 0) {
        const picked = others.length === batch.rows ? batch : pickRows(batch, others);
        const changed = relativeAt < 0 ? picked : withChange(picked, targetAt, relativeAt);
        yield { ...changed, cleaned: batch.cleaned };
      }
    }
  };
  const stored = columns.map((column): Column =>
    relativeTo !== undefined && column.name === target ? { name: target, type: 'number' } : column,
  );
  const files = await encodeTrainColumns(stored, kept(), { target, sample, signal, ...written });
  if (holdout !== undefined && bytes <= HELD_BYTES) {
    holdout.batches = () => copiesOf(held);
  }
  return files;
}

/** The batch with the change from one column to another in place of the other. */
function withChange(batch: ColumnBatch, targetAt: number, relativeAt: number): ColumnBatch {
  const [target, relative] = [batch.columns[targetAt]!, batch.columns[relativeAt]!];
  const values = Float64Array.from(
    { length: batch.rows },
    (_, row) => numberAt(target, row) - numberAt(relative, row),
  );
  return {
    rows: batch.rows,
    columns: batch.columns.map((column, at) => (at === targetAt ? { type: 'number', values } : column)),
  };
}

function countOf(plan: Uint8Array, what: number): number {
  return plan.reduce((count, one) => count + (one === what ? 1 : 0), 0);
}

async function truthOf(
  { task, codes, values, classes, counts }: RowFacts,
  plan: Uint8Array,
): Promise<{ truth: Truth; rows: number; heldRows: Int32Array }> {
  const yielder = new Yielder();
  const held: number[] = [];
  const numbers: number[] = [];
  const keptCounts = counts.map(() => 0);
  const kept = new Float64Array(values.length);
  let left = 0;
  for (let row = 0; row < plan.length; row++) {
    if (plan[row] === HELD) {
      numbers.push(row);
      held.push(task === 'regression' ? values[row]! : codes[row]!);
    } else if (plan[row] === KEPT) {
      keptCounts[codes[row]!]!++;
      kept[left++] = values[row]!;
    }
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  const truth: Truth =
    task === 'regression'
      ? { task, held, kept: kept.subarray(0, left) }
      : { task, classes, held, keptCounts };
  return { truth, rows: held.length, heldRows: Int32Array.from(numbers) };
}

async function* heldRows(
  source: TableSource,
  { columns, target, features }: HeldColumns,
  plan: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<ColumnBatch> {
  // The target is read too: a plan numbers the rows that have one.
  const read = [...features, ...columns.filter(({ name }) => name === target)];
  for await (const [batch, first] of numbered(source.batches(read, { signal }))) {
    const rows = rowsWhere(batch, plan, first, HELD);
    if (rows.length > 0) {
      yield pickRows({ rows: batch.rows, columns: batch.columns.slice(0, features.length) }, rows);
    }
  }
}

/** Batches with the number of their first row. */
async function* numbered(batches: AsyncIterable<ColumnBatch>): AsyncGenerator<[ColumnBatch, number]> {
  let first = 0;
  for await (const batch of batches) {
    yield [batch, first];
    first += batch.rows;
  }
}

/** Rows of a batch that a plan says this of. */
function rowsWhere({ rows }: ColumnBatch, plan: Uint8Array, first: number, wanted: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < rows; i++) {
    if (plan[first + i] === wanted) {
      found.push(i);
    }
  }
  return found;
}

/** Copies: a batch that is encoded is handed over, and these are scored more than once. */
function* copiesOf(batches: readonly ColumnBatch[]): Generator<ColumnBatch> {
  for (const batch of batches) {
    yield sliceBatch(batch, 0, batch.rows);
  }
}
