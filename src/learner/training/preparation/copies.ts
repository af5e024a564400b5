import { FEWEST_COLUMNS, PrivateValues, RowKinds } from '../../../metrics/repeated-rows';
import type { FeatureColumn, TargetColumn, TrainInput } from '../../types';
import type { LearnerSettings } from '../plan/options';

/** A digest has 48 bits, so that it is a whole number of a double. */
const HIGH = 2 ** 16;

/**
 * The table without the copies of its rows, if they are more than chance explains: a row that is held out beside its
 * copies would be scored by what was learned of it. Where blocks or groups are held out, copies are in the same one;
 * there only rows with a date are compared, since a machine that stands still repeats all else.
 */
export function withoutCopies(
  input: TrainInput,
  { holdOut, subsample }: LearnerSettings,
): { input: TrainInput; copies: number } {
  const { features, target } = input;
  const isWhole = holdOut.blocks !== undefined || holdOut.group !== undefined;
  const areNumbered = subsample.some((one) => typeof one !== 'number');
  if (areNumbered || (isWhole && !features.some(({ kind }) => kind === 'date'))) {
    return { input, copies: 0 };
  }
  const columns = [...features.map(cellsOf), target.task === 'classification' ? target.codes : target.values];
  const kinds = kindsOf(columns);
  const areTold = (): boolean =>
    columns.length >= FEWEST_COLUMNS && columns.some((column) => tellsOfCopies(column, kinds));
  if (kinds.areAllDifferent || (kinds.times === 1 && !areTold())) {
    return { input, copies: 0 };
  }
  const isCopy = kinds.copies();
  const kept = Int32Array.from({ length: kinds.rows }, (_, row) => row).filter((row) => isCopy[row] === 0);
  return {
    input: {
      ...input,
      features: features.map((feature) => featureOf(feature, kept)),
      target: targetOf(target, kept),
    },
    copies: kinds.rows - kept.length,
  };
}

type Cells = Float64Array | Int32Array;

function cellsOf(feature: FeatureColumn): Cells {
  return feature.kind === 'text' ? feature.codes : feature.values;
}

/** A digest of a cell, 32 bits: 0 and −0 are one value, and so is every NaN. */
function digester(): (value: number) => number {
  const cell = new Float64Array(1);
  const words = new Int32Array(cell.buffer);
  return (value) => {
    cell[0] = value === 0 ? 0 : Number.isNaN(value) ? NaN : value;
    return mix(mix(0, words[0]), words[1]);
  };
}

function kindsOf(columns: readonly Cells[]): RowKinds {
  const rows = columns[0].length;
  const low = new Int32Array(rows);
  const high = new Int32Array(rows);
  const digest = digester();
  columns.forEach((column, c) => {
    for (let row = 0; row < rows; row++) {
      const word = digest(column[row]);
      low[row] = mix(low[row], word);
      high[row] = mix(high[row], word ^ Math.imul(c + 1, 0x9e3779b1));
    }
  });
  const kinds = new RowKinds(rows);
  for (let row = 0; row < rows; row++) {
    kinds.add((low[row] >>> 0) * HIGH + (high[row] >>> 16));
  }
  return kinds;
}

function tellsOfCopies(column: Cells, kinds: RowKinds): boolean {
  const values = new PrivateValues(kinds);
  const digest = digester();
  const isText = column instanceof Int32Array;
  for (let row = 0; row < column.length; row++) {
    const value = column[row];
    if (isText ? value >= 0 : !Number.isNaN(value)) {
      values.add(digest(value), row);
    }
  }
  return values.tellOfCopies();
}

/** One round of MurmurHash3 (Austin Appleby), 32 bits, and its last multiplication. */
function mix(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  let h = hash ^ Math.imul(k, 0x1b873593);
  h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return h ^ (h >>> 13);
}

function featureOf(feature: FeatureColumn, kept: Int32Array): FeatureColumn {
  return feature.kind === 'text'
    ? { ...feature, codes: kept.map((row) => feature.codes[row]) }
    : { ...feature, values: Float64Array.from(kept, (row) => feature.values[row]) };
}

function targetOf(target: TargetColumn, kept: Int32Array): TargetColumn {
  return target.task === 'classification'
    ? { ...target, codes: kept.map((row) => target.codes[row]) }
    : { ...target, values: Float64Array.from(kept, (row) => target.values[row]) };
}
