import { type Column, type ColumnBatch, numberAt } from '../../table';
import { Yielder } from '../../util/event-loop';
import type { Reference } from '../reference/types';
import type { RowFacts } from '../train/row-facts';
import { SEEN } from './seen-rows';

/** A value is unusual that is farther beyond the least or the most that is known than this many times the range. */
const BEYOND = 1;
/** Of fewer outcomes nobody knows the range. */
const LEAST_KNOWN = 30;
/** An outcome stands still where so large a part of the rows has one value, of which half as many were known. */
const STILL = 0.2;

interface Range {
  low: number;
  high: number;
}

interface ComparedRows {
  /** The features of the table, and of the rows that are compared. */
  features: readonly Column[];
  batches: () => AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>;
  /** Their numbers in the table. */
  numbers: Int32Array;
}

export interface KnownRows {
  /** What the champion knows of its train set. */
  reference: Pick<Reference, 'columns' | 'usual' | 'putOff'> | undefined;
  /** Of each row of the table: whether the champion was fitted on it. */
  seen: Uint8Array;
}

/**
 * Of each row that two models are compared on, 1 where its numbers and its outcome are such as the champion was fitted on:
 * not far beyond their range, and no outcome that stands still. Where a sensor is broken they are not.
 */
export async function usualRows(
  { features, batches, numbers }: ComparedRows,
  { reference, seen }: KnownRows,
  facts: RowFacts,
): Promise<Uint8Array> {
  const usual = usualOutcomes(facts, numbers, seen);
  const ranges = features.map(({ name }) => (name === facts.clock ? undefined : rangeOf(name, reference)));
  const yielder = new Yielder();
  let first = 0;
  for await (const { rows, columns } of batches()) {
    for (let row = 0; row < rows; row++) {
      if (ranges.some((range, at) => range && isFar(numberAt(columns[at]!, row), range))) {
        usual[first + row] = 0;
      }
      if (yielder.isDueAt(row)) {
        await yielder.yield();
      }
    }
    first += rows;
  }
  return usual;
}

/** Of numbers: dates go on, and categories have no range. */
function rangeOf(name: string, reference: KnownRows['reference']): Range | undefined {
  const at = reference?.columns.findIndex((column) => column.name === name) ?? -1;
  const usual = reference?.usual[at];
  return usual?.kind === 'number' && reference!.columns[at]!.type !== 'date'
    ? { low: usual.min, high: usual.max }
    : undefined;
}

function isFar(value: number, { low, high }: Range): boolean {
  // A column that never changed tells nothing of how much it may.
  const reach = high > low ? BEYOND * (high - low) : Infinity;
  return value < low - reach || value > high + reach;
}

function usualOutcomes({ task, values }: RowFacts, numbers: Int32Array, seen: Uint8Array): Uint8Array {
  const usual = new Uint8Array(numbers.length).fill(1);
  const known = task === 'regression' ? values.filter((_, row) => seen[row] === SEEN) : [];
  if (known.length < LEAST_KNOWN) {
    return usual;
  }
  const range = { low: Infinity, high: -Infinity };
  for (const value of known) {
    range.low = Math.min(range.low, value);
    range.high = Math.max(range.high, value);
  }
  const compared = Float64Array.from(numbers, (row) => values[row]!);
  const still = mostFrequent(compared);
  const part = partOf(compared, still);
  const isStill = part >= STILL && 2 * partOf(known, still) < part;
  compared.forEach((value, at) => {
    usual[at] = isFar(value, range) || (isStill && value === still) ? 0 : 1;
  });
  return usual;
}

function mostFrequent(values: Float64Array): number {
  const counts = new Map<number, number>();
  let most = NaN;
  for (const value of values) {
    const count = (counts.get(value) ?? 0) + 1;
    counts.set(value, count);
    most = count > (counts.get(most) ?? 0) ? value : most;
  }
  return most;
}

function partOf(values: ArrayLike<number>, wanted: number): number {
  let count = 0;
  for (let at = 0; at < values.length; at++) {
    count += values[at] === wanted ? 1 : 0;
  }
  return count / values.length;
}
