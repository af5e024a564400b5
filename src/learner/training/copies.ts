import {
  ColumnSplit,
  FEWEST_COLUMNS,
  FEWEST_TOGETHER,
  PrivateValues,
  RowDigests,
  RowKinds,
  RowsButOne,
} from '../../metrics/repeated-rows';
import { rise, StillRows } from '../../metrics/still-rows';
import { indices } from '../math/order';
import type { FeatureColumn, TargetColumn, TrainInput } from '../types';
import type { LearnerSettings } from './options';

/**
 * The table without the copies of its rows, if they are more than chance explains: a row that is held out beside its
 * copies would be scored by what was learned of it. Where blocks or groups are held out, copies are in the same one;
 * there only rows with a date are compared. A reading that fills a day counts once everywhere.
 */
export function withoutCopies(
  input: TrainInput,
  { holdOut, subsample }: LearnerSettings,
): { input: TrainInput; copies: number } {
  const { features, target } = input;
  const isWhole = holdOut.blocks !== undefined || holdOut.group !== undefined;
  if (subsample.some((one) => typeof one !== 'number')) {
    return { input, copies: 0 };
  }
  const cells = target.task === 'classification' ? target.codes : target.values;
  const hasDate = features.some(({ kind }) => kind === 'date');
  const copied = isWhole && !hasDate ? undefined : copiesIn([...features.map(readCells), cells]);
  const still = stillIn([...features.filter((one) => !tellsTime(one)).map(readCells), cells]);
  if (copied === undefined && still === undefined) {
    return { input, copies: 0 };
  }
  const kept = indices(cells.length).filter((row) => copied?.[row] !== 1 && still?.[row] !== 1);
  return {
    input: {
      ...input,
      features: features.map((feature) => keepOfFeature(feature, kept)),
      target: keepOfTarget(target, kept),
    },
    copies: cells.length - kept.length,
  };
}

/** Per row, 1 if it is a copy; undefined where chance explains them. */
function copiesIn(columns: readonly Cells[]): Uint8Array | undefined {
  const kinds = findKinds(columns);
  return kinds.areAllDifferent || (kinds.times === 1 && !areMoreThanChance(columns, kinds))
    ? undefined
    : kinds.copies();
}

function tellsTime(feature: FeatureColumn): boolean {
  return feature.kind === 'date' || (feature.kind === 'number' && rise(feature.values));
}

/** Per row, 1 if it repeats the reading of a machine that stands still; undefined where none does. */
function stillIn(columns: readonly Cells[]): Uint8Array | undefined {
  const kinds = findKinds(columns);
  const still = new StillRows(kinds, columns.length);
  still.firstRows.forEach((first, candidate) => {
    const differing = new Uint16Array(kinds.rows);
    for (const column of columns) {
      column.forEach((value, row) => (differing[row] += isSame(value, column[first]) ? 0 : 1));
    }
    differing.forEach((count) => still.add(candidate, count));
  });
  return still.repeats();
}

function isSame(a: number, b: number): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
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

function readCells(feature: FeatureColumn): Cells {
  return feature.kind === 'text' ? feature.codes : feature.values;
}

function findKinds(columns: readonly Cells[]): RowKinds {
  const digests = digestColumns(columns);
  const kinds = new RowKinds(digests.rows);
  for (let row = 0; row < digests.rows; row++) {
    kinds.add(digests.of(row));
  }
  return kinds;
}

function digestColumns(columns: readonly Cells[]): RowDigests {
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
  const digests = digestColumns([column]);
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
    const own = digestColumns([column]);
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

function keepOfFeature(feature: FeatureColumn, kept: Int32Array): FeatureColumn {
  return feature.kind === 'text'
    ? { ...feature, codes: kept.map((row) => feature.codes[row]) }
    : { ...feature, values: Float64Array.from(kept, (row) => feature.values[row]) };
}

function keepOfTarget(target: TargetColumn, kept: Int32Array): TargetColumn {
  return target.task === 'classification'
    ? { ...target, codes: kept.map((row) => target.codes[row]) }
    : { ...target, values: Float64Array.from(kept, (row) => target.values[row]) };
}
