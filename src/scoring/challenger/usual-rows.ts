import { type Column, type ColumnBatch, numberAt } from '../../table';
import { Yielder } from '../../util/event-loop';
import type { Reference } from '../reference/types';
import type { RowFacts } from '../train/holdout/row-facts';
import { SEEN } from './seen-rows';

/** A value is unusual if it lies outside the known range by more than this many times that range. */
const BEYOND = 1;
/** Fewer outcomes say too little about the range. */
const LEAST_KNOWN = 30;
/** An outcome or a sensor is stuck if this fraction of the rows has one value, and at most half as many of the known rows had one. */
const STILL = 0.2;
/** A sensor moves where no larger a part of the rows that are known has the value of the one before. */
const MOVES = 0.1;

interface Range {
  low: number;
  high: number;
}

/** What the champion knows of a column. */
interface KnownNumbers {
  range: Range;
  /** Of some rows, in their order. */
  values: Float64Array;
  /** Whether a row rarely has the value of the one before. */
  moves: boolean;
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
  reference: Pick<Reference, 'columns' | 'rows' | 'usual' | 'putOff'> | undefined;
  /** Of each row of the table: whether the champion was fitted on it. */
  seen: Uint8Array;
}

/**
 * Of each row that two models are compared on, 1 where its numbers and its outcome are such as the champion was fitted on:
 * not far beyond their range, and neither an outcome nor a sensor that stands still. Where a sensor is broken they are not.
 */
export async function usualRows(
  { features, batches, numbers }: ComparedRows,
  { reference, seen }: KnownRows,
  facts: RowFacts,
): Promise<Uint8Array> {
  const usual = usualOutcomes(facts, numbers, seen);
  const known = features.map(({ name }) =>
    name === facts.clock ? undefined : knownNumbers(name, reference),
  );
  const compared = known.map((one) => (one?.moves ? new Float64Array(numbers.length) : undefined));
  const yielder = new Yielder();
  let first = 0;
  for await (const { rows, columns } of batches()) {
    for (let row = 0; row < rows; row++) {
      known.forEach((one, at) => {
        if (one === undefined) {
          return;
        }
        const value = numberAt(columns[at]!, row);
        if (isFar(value, one.range)) {
          usual[first + row] = 0;
        }
        const own = compared[at];
        if (own !== undefined) {
          own[first + row] = value;
        }
      });
      if (yielder.isDueAt(row)) {
        await yielder.yield();
      }
    }
    first += rows;
  }
  for (const [at, own] of compared.entries()) {
    const still = own && stillValue(own, known[at]!.values);
    own?.forEach((value, row) => (usual[row] = value === still ? 0 : usual[row]!));
    await yielder.due();
  }
  return usual;
}

/** Of numbers: dates go on, and categories have no range. */
function knownNumbers(name: string, reference: KnownRows['reference']): KnownNumbers | undefined {
  const at = reference?.columns.findIndex((column) => column.name === name) ?? -1;
  const usual = reference?.usual[at];
  if (usual?.kind !== 'number' || reference!.columns[at]!.type === 'date') {
    return undefined;
  }
  const values = Float64Array.from(reference!.rows, (row) => Number(row[at] ?? NaN));
  return { range: { low: usual.min, high: usual.max }, values, moves: doesMove(values) };
}

/** A set point, a month or a count keeps its value for a while: it is not stuck. */
function doesMove(values: Float64Array): boolean {
  const stays = values.reduce((count, value, row) => count + (value === values[row - 1] ? 1 : 0), 0);
  const known = values.filter((value) => !Number.isNaN(value)).length;
  return known >= LEAST_KNOWN && stays <= MOVES * known;
}

function isFar(value: number, { low, high }: Range): boolean {
  // A column that never changed says nothing about how much it may.
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
  const still = stillValue(compared, known);
  compared.forEach((value, at) => {
    usual[at] = isFar(value, range) || value === still ? 0 : 1;
  });
  return usual;
}

/** The value at which these stand still; undefined where they do not. @param known what they were before */
function stillValue(values: Float64Array, known: ArrayLike<number>): number | undefined {
  const most = mostFrequent(values);
  const part = partOf(values, most);
  return part >= STILL && 2 * partOf(known, most) < part ? most : undefined;
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
