import {
  ColumnSplit,
  FEWEST_COLUMNS,
  FEWEST_TOGETHER,
  PrivateValues,
  RowDigests,
  RowKinds,
  RowsButOne,
} from '../../metrics/repeated-rows';
import { indices } from '../math/order';
import type { FeatureColumn, TargetColumn, TrainInput } from '../types';
import type { LearnerSettings } from './options';

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
  if (kinds.areAllDifferent || (kinds.times === 1 && !areMoreThanChance(columns, kinds))) {
    return { input, copies: 0 };
  }
  const isCopy = kinds.copies();
  const kept = indices(kinds.rows).filter((row) => isCopy[row] === 0);
  return {
    input: {
      ...input,
      features: features.map((feature) => featureOf(feature, kept)),
      target: targetOf(target, kept),
    },
    copies: kinds.rows - kept.length,
  };
}

/** Whether rows repeat more often than chance lets them. */
function areMoreThanChance(columns: readonly Cells[], kinds: RowKinds): boolean {
  if (columns.length < FEWEST_TOGETHER) {
    return false;
  }
  const isNarrow = columns.length < FEWEST_COLUMNS;
  const isToldByOne = columns.some((column) => {
    const values = privateValues(column, kinds);
    return isNarrow ? values.areOfMostKinds : values.tellOfCopies();
  });
  return isNarrow ? isToldByOne && tellTogether(columns, kinds) : isToldByOne || tellTogether(columns, kinds);
}

type Cells = Float64Array | Int32Array;

function cellsOf(feature: FeatureColumn): Cells {
  return feature.kind === 'text' ? feature.codes : feature.values;
}

function kindsOf(columns: readonly Cells[]): RowKinds {
  const digests = digestsOf(columns);
  const kinds = new RowKinds(digests.rows);
  for (let row = 0; row < digests.rows; row++) {
    kinds.add(digests.of(row));
  }
  return kinds;
}

function digestsOf(columns: readonly Cells[]): RowDigests {
  const digests = new RowDigests(columns[0].length);
  for (const column of columns) {
    for (let row = 0; row < digests.rows; row++) {
      digests.addNumber(row, column[row]);
    }
  }
  return digests;
}

function privateValues(column: Cells, kinds: RowKinds): PrivateValues {
  const values = new PrivateValues(kinds);
  const digests = digestsOf([column]);
  const isText = column instanceof Int32Array;
  for (let row = 0; row < column.length; row++) {
    const value = column[row];
    if (isText ? value >= 0 : !Number.isNaN(value)) {
      values.add(digests.of(row) | 0, row);
    }
  }
  return values;
}

/** Whether rows that agree in all columns but one tell of copies. */
function tellTogether(columns: readonly Cells[], kinds: RowKinds): boolean {
  if (!kinds.mayBeCopied(columns.length)) {
    return false;
  }
  const all = Int32Array.from({ length: kinds.rows }, (_, row) => row);
  const digests = columns.map((column) => {
    const own = digestsOf([column]);
    return all.map((row) => own.of(row) | 0);
  });
  const splits = digests.map((own) => {
    const split = new ColumnSplit();
    own.forEach((digest, row) => split.add(digest, row));
    return split;
  });
  const rows = new RowsButOne(kinds, splits);
  const cells = new Int32Array(columns.length);
  for (const row of all) {
    digests.forEach((own, column) => (cells[column] = own[row]));
    rows.add(cells, row);
  }
  return rows.tellOfCopies();
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
