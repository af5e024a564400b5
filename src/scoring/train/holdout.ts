import {
  batchBytes,
  cellAt,
  type Column,
  type ColumnBatch,
  type ColumnData,
  encodeTrainBatches,
  type FileFormat,
  type Label,
  labelAt,
  pickRows,
  readBatches,
  sliceBatch,
  type TableFile,
  type TableProfile,
  type TableSource,
} from '../../table';
import { Yielder } from '../../util/event-loop';
import type { Task } from '../../wire/types';
import { chooseHeld } from './holdout-plan';

/** Rows of a train set that the fit does not see. */
export interface Holdout {
  /** Rows kept back, and rows left for the fit. */
  rows: number;
  kept: number;
  /** The features of the rows kept back. */
  batches: () => AsyncIterable<ColumnBatch>;
  /** The target of the rows kept back and of those left, in the order of the table. */
  truth: Truth;
}

/** Classification: codes that index `classes`. Regression: numbers. */
export type Truth =
  | { task: 'classification'; classes: Label[]; held: number[]; keptCounts: number[] }
  | { task: 'regression'; held: number[]; kept: Float64Array };

interface HoldoutChoice {
  target: string;
  task: Task;
  /** Part of the rows to keep back, in percent. */
  percent: number;
  seed: number;
  signal?: AbortSignal;
}

interface SplitOptions {
  format?: FileFormat;
  signal?: AbortSignal;
  /** Told the rows that are in the files. */
  onProgress?: (rows: number) => void;
}

/**
 * Chooses the rows to keep back: by class for classification (see `chooseHeld`). Undefined where that is not one row.
 */
export async function planHoldout(
  source: TableSource,
  profile: TableProfile,
  choice: HoldoutChoice,
): Promise<{ mask: Uint8Array; holdout: Holdout } | undefined> {
  const { target, task, percent, seed, signal } = choice;
  const columns = profile.columns.filter(({ name }) => name !== target);
  const targetColumn = profile.columns.filter(({ name }) => name === target);
  const codes = new Int32Array(profile.rows);
  const values = new Float64Array(task === 'regression' ? profile.rows : 0);
  const classes: Label[] = [];
  const counts: number[] = task === 'regression' ? [profile.rows] : [];
  const known = new Map<Label | null, number>();
  let row = 0;
  for await (const batch of readBatches(source, targetColumn, { signal })) {
    const cells = batch.columns[0]!;
    for (let i = 0; i < batch.rows; i++, row++) {
      if (task === 'regression') {
        values[row] = numberAt(cells, i);
        continue;
      }
      const label = labelAt(cells, i);
      let code = known.get(label);
      if (code === undefined) {
        code = counts.push(0) - 1;
        classes.push(label!);
        known.set(label, code);
      }
      codes[row] = code;
      counts[code]!++;
    }
  }
  const mask = await chooseHeld({ codes, counts }, percent, seed);
  const { truth, rows } = await truthOf(task, mask, { codes, values, classes, counts });
  if (rows === 0) {
    return undefined;
  }
  const batches = (): AsyncIterable<ColumnBatch> => heldRows(source, columns, mask, signal);
  return { mask, holdout: { rows, kept: profile.rows - rows, batches, truth } };
}

/** What is kept back stays in memory up to so many bytes; beyond them the table is read again for it. */
const HELD_BYTES = 32 * 1024 * 1024;

/**
 * The train set without the rows kept back, as its two files, in one pass. The rows kept back are gathered in the same
 * pass, where there is room for them: `holdout.batches` then reads nothing.
 */
export async function encodeKept(
  source: TableSource,
  profile: TableProfile,
  target: string,
  { mask, holdout }: { mask: Uint8Array; holdout: Holdout },
  { format, signal, onProgress }: SplitOptions,
): Promise<{ x: TableFile; y: TableFile }> {
  const held: ColumnBatch[] = [];
  let bytes = 0;
  const keep = (batch: ColumnBatch): void => {
    bytes += batchBytes(batch);
    if (bytes <= HELD_BYTES) {
      held.push(batch);
    }
  };
  const features = profile.columns.flatMap(({ name }, index) => (name === target ? [] : [index]));
  const kept = async function* (): AsyncGenerator<ColumnBatch> {
    for await (const [batch, first] of numbered(readBatches(source, profile.columns, { signal }))) {
      const own = rowsWhere(batch, mask, first, 1);
      if (own.length > 0 && bytes <= HELD_BYTES) {
        keep(pickRows({ rows: batch.rows, columns: features.map((index) => batch.columns[index]!) }, own));
      }
      const others = rowsWhere(batch, mask, first, 0);
      if (others.length > 0) {
        yield pickRows(batch, others);
      }
    }
  };
  const files = await encodeTrainBatches(profile.columns, kept(), {
    target,
    format,
    signal,
    onProgress,
  });
  if (bytes <= HELD_BYTES) {
    holdout.batches = () => listed(held);
  }
  return files;
}

async function truthOf(
  task: Task,
  mask: Uint8Array,
  all: { codes: Int32Array; values: Float64Array; classes: Label[]; counts: number[] },
): Promise<{ truth: Truth; rows: number }> {
  const { codes, values, classes } = all;
  const yielder = new Yielder();
  const held: number[] = [];
  const keptCounts = [...all.counts];
  const kept = new Float64Array(values.length);
  let left = 0;
  for (let row = 0; row < mask.length; row++) {
    if (mask[row] === 1) {
      held.push(task === 'regression' ? values[row]! : codes[row]!);
      keptCounts[codes[row]!]!--;
    } else {
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
  return { truth, rows: held.length };
}

async function* heldRows(
  source: TableSource,
  columns: readonly Column[],
  mask: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<ColumnBatch> {
  for await (const [batch, first] of numbered(readBatches(source, columns, { signal }))) {
    const rows = rowsWhere(batch, mask, first, 1);
    if (rows.length > 0) {
      yield pickRows(batch, rows);
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

/** Rows of a batch that are kept back (1), or are not (0). */
function rowsWhere({ rows }: ColumnBatch, mask: Uint8Array, first: number, wanted: 0 | 1): number[] {
  const found: number[] = [];
  for (let i = 0; i < rows; i++) {
    if (mask[first + i] === wanted) {
      found.push(i);
    }
  }
  return found;
}

/** Copies, as what is encoded from a sequence is handed over. */
// eslint-disable-next-line @typescript-eslint/require-await -- its readers take a stream
async function* listed(batches: readonly ColumnBatch[]): AsyncGenerator<ColumnBatch> {
  for (const batch of batches) {
    yield sliceBatch(batch, 0, batch.rows);
  }
}

function numberAt(column: ColumnData, row: number): number {
  const cell = cellAt(column, row);
  return typeof cell === 'number' || typeof cell === 'bigint' ? Number(cell) : Number.NaN;
}
