import { type Column, type ColumnData, readBatches, type TableSource } from '../../../table';
import { Yielder } from '../../../util/event-loop';
import type { RowFacts } from '../holdout/row-facts';

/** Both halves of a digest begin from this. */
const BASIS = 0x811c9dc5;
const MISSING = 0x5bd1e995;
/** A digest has 48 bits, so that it is a whole number of a double. */
const HIGH = 2 ** 32;

/**
 * A number for each row of a train set that has a target: equal for rows with equal features and an equal target. It
 * reveals no value; with a row at hand it shows whether that row was there.
 *
 * @param features read as these types, in this order
 * @param target as the table's profile has it: rows without one are left out where it is required
 */
export async function digestRows(
  source: TableSource,
  features: readonly Column[],
  target: Column,
  facts: Pick<RowFacts, 'rows' | 'task' | 'codes' | 'classes' | 'values'>,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const digests = new Float64Array(facts.rows);
  const yielder = new Yielder();
  let first = 0;
  for await (const batch of readBatches(source, [...features, target], { signal })) {
    const low = new Int32Array(batch.rows).fill(BASIS);
    const high = new Int32Array(batch.rows).fill(BASIS ^ MISSING);
    for (const column of batch.columns.slice(0, features.length)) {
      await mixColumn(column, low, high, yielder);
      await yielder.due();
    }
    mixTarget(facts, first, low, high);
    for (let row = 0; row < batch.rows; row++) {
      digests[first + row] = joined(low[row]!, high[row]!);
    }
    first += batch.rows;
  }
  return digests;
}

/** Digests of some cells of each row of a batch: 48 bits, a whole number; equal for equal cells. */
export async function digestCells(
  rows: number,
  columns: readonly ColumnData[],
  yielder: Yielder,
): Promise<Float64Array> {
  const low = new Int32Array(rows).fill(BASIS);
  const high = new Int32Array(rows).fill(BASIS ^ MISSING);
  for (const column of columns) {
    await mixColumn(column, low, high, yielder);
    await yielder.due();
  }
  return Float64Array.from(low, (word, row) => joined(word, high[row]!));
}

function joined(low: number, high: number): number {
  return (finish(high) >>> 16) * HIGH + (finish(low) >>> 0);
}

async function mixColumn(
  column: ColumnData,
  low: Int32Array,
  high: Int32Array,
  yielder: Yielder,
): Promise<void> {
  const rows = low.length;
  const mix = (row: number, word: number): void => {
    low[row] = mixed(low[row]!, word);
    high[row] = mixed(high[row]!, word + 1);
  };
  switch (column.type) {
    case 'number':
    case 'integer':
    case 'date':
      mixNumbers(column.values, mix);
      return;
    case 'boolean':
      column.values.forEach((value, row) => mix(row, value));
      return;
    case 'bigint':
      column.values.forEach((value, row) => {
        const isMissing = column.missing?.[row] === 1;
        mix(row, isMissing ? MISSING : Number(BigInt.asIntN(32, value)));
        mix(row, isMissing ? MISSING : Number(BigInt.asIntN(32, value >> 32n)));
      });
      return;
    case 'text':
      for (let row = 0; row < rows; row++) {
        const [from, to] = [column.offsets[row]!, column.offsets[row + 1]!];
        mix(row, column.missing?.[row] === 1 ? MISSING : to - from);
        for (let at = from; at < to; at++) {
          mix(row, column.bytes[at]!);
          if (yielder.isDueAt(at)) {
            await yielder.yield();
          }
        }
      }
  }
}

function mixTarget(
  { task, codes, classes, values }: Pick<RowFacts, 'task' | 'codes' | 'classes' | 'values'>,
  first: number,
  low: Int32Array,
  high: Int32Array,
): void {
  const mix = (row: number, word: number): void => {
    low[row] = mixed(low[row]!, word);
    high[row] = mixed(high[row]!, word + 1);
  };
  if (task === 'regression') {
    mixNumbers(values.subarray(first, first + low.length), mix);
    return;
  }
  // The same label has another code in another table.
  const texts = classes.map((label) => Buffer.from(String(label)));
  for (let row = 0; row < low.length; row++) {
    for (const byte of texts[codes[first + row]!] ?? []) {
      mix(row, byte);
    }
  }
}

function mixNumbers(values: Float64Array, mix: (row: number, word: number) => void): void {
  const cell = new Float64Array(1);
  const words = new Int32Array(cell.buffer);
  values.forEach((value, row) => {
    // 0 and −0 are one value, and so is every NaN.
    cell[0] = value === 0 ? 0 : Number.isNaN(value) ? NaN : value;
    mix(row, words[0]!);
    mix(row, words[1]!);
  });
}

/** One round of MurmurHash3 (Austin Appleby), 32 bits. */
function mixed(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const h = hash ^ Math.imul(k, 0x1b873593);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
