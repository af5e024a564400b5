import {
  cellAt,
  type Column,
  type ColumnBatch,
  type ColumnData,
  encodeBatches,
  type FileFormat,
  type Label,
  labelAt,
  pickRows,
  readBatches,
  type TableFile,
  type TableProfile,
  type TableSource,
} from '../table';
import type { Task } from '../wire/types';
import { chooseHeld } from './holdout-plan';

/** Rows of a train set that the fit does not see. */
export interface Holdout {
  /** Rows kept back, and rows left for the fit. */
  rows: number;
  kept: number;
  /** The features of the rows kept back. */
  batches(): AsyncIterable<ColumnBatch>;
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
  const mask = chooseHeld({ codes, counts }, percent, seed);
  const rows = mask.reduce((sum, bit) => sum + bit, 0);
  if (rows === 0) {
    return undefined;
  }
  const truth = truthOf(task, mask, { codes, values, classes, counts });
  const batches = (): AsyncIterable<ColumnBatch> => rowsWhere(source, columns, mask, 1, signal);
  return { mask, holdout: { rows, kept: profile.rows - rows, batches, truth } };
}

/** The train set without the rows kept back, as its two files. */
export async function encodeKept(
  source: TableSource,
  profile: TableProfile,
  target: string,
  mask: Uint8Array,
  { format, signal }: SplitOptions,
): Promise<{ x: TableFile; y: TableFile }> {
  const encode = (columns: Column[]): Promise<TableFile> =>
    encodeBatches(columns, rowsWhere(source, columns, mask, 0, signal), { format, signal });
  const x = await encode(profile.columns.filter(({ name }) => name !== target));
  try {
    return { x, y: await encode(profile.columns.filter(({ name }) => name === target)) };
  } catch (error) {
    await x.dispose();
    throw error;
  }
}

function truthOf(
  task: Task,
  mask: Uint8Array,
  all: { codes: Int32Array; values: Float64Array; classes: Label[]; counts: number[] },
): Truth {
  if (task === 'regression') {
    const held: number[] = [];
    all.values.forEach((value, row) => mask[row] === 1 && held.push(value));
    return { task, held, kept: all.values.filter((_, row) => mask[row] === 0) };
  }
  const held: number[] = [];
  const keptCounts = [...all.counts];
  all.codes.forEach((code, row) => {
    if (mask[row] === 1) {
      held.push(code);
      keptCounts[code]!--;
    }
  });
  return { task, classes: all.classes, held, keptCounts };
}

async function* rowsWhere(
  source: TableSource,
  columns: readonly Column[],
  mask: Uint8Array,
  wanted: 0 | 1,
  signal: AbortSignal | undefined,
): AsyncGenerator<ColumnBatch> {
  let first = 0;
  for await (const batch of readBatches(source, columns, { signal })) {
    const rows: number[] = [];
    for (let i = 0; i < batch.rows; i++) {
      if (mask[first + i] === wanted) {
        rows.push(i);
      }
    }
    first += batch.rows;
    if (rows.length > 0) {
      yield pickRows(batch, rows);
    }
  }
}

function numberAt(column: ColumnData, row: number): number {
  const cell = cellAt(column, row);
  return typeof cell === 'number' || typeof cell === 'bigint' ? Number(cell) : Number.NaN;
}
