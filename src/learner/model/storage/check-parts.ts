import type { ResidualForest } from '../../calibration/residuals';
import { type Kernel, KIND } from '../../gaussian/kernel';
import { MAX_TERMS } from '../../linear/design';
import type { LinearTables, LinearTerms, Lines } from '../../linear/linear';
import type { Columns } from './check-columns';
import { checkTrees } from './check-trees';
import { areAscending, areFinite, areWithin, isArrayOf, isFiniteNumber, isRecord, must } from './soundness';

/** More than any fit chooses: loading takes their third power. */
const MOST_POINTS = 1024;
const MOST_DIMENSIONS = 64;
/** Far more than any fit produces; predicting a row visits the rows of a leaf of each tree. */
const MOST_ATOMS = 4096;
const MOST_FOREST_TREES = 1000;
const MOST_LEAF_ROWS = 20_000;

/** Checks the terms of a linear model before its tables are made. @throws LearnerError */
export function checkTerms(
  { columns, rules, weights }: LinearTerms,
  { specs, hasNumbers }: Columns,
  width: number,
): void {
  must(
    isArrayOf(Uint16Array, columns, rules.length) && rules.length <= MAX_TERMS,
    'a linear model has too many terms',
  );
  must(
    isArrayOf(Float32Array, weights, rules.length * width) && areFinite(weights),
    'a linear model lacks weights',
  );
  rules.forEach((rule, t) => {
    const column = columns[t];
    must(column < specs.length, 'a term is of a column that is not there');
    const { kind, ...numbers } = rule;
    must(Object.values(numbers).every(isFiniteNumber), 'a term is not a number');
    must(rule.kind !== 'category' || rule.bin < specs[column].bins, 'a term is of no category');
    must(
      (kind !== 'number' && kind !== 'whole') || hasNumbers[column],
      'a line is of a column without numbers',
    );
  });
}

/** Checks a linear model that is stored as tables, as earlier versions did. @throws LearnerError */
export function checkTables(
  value: unknown,
  { specs, hasNumbers }: Columns,
  width: number,
): asserts value is LinearTables {
  must(isRecord(value) && value.terms === undefined, 'a linear model has no tables');
  const { base, at, scores, lines } = value as unknown as LinearTables;
  must(
    isArrayOf(Float64Array, base, width) &&
      areFinite(base) &&
      isArrayOf(Int32Array, at, specs.length) &&
      isArrayOf(Float32Array, scores) &&
      areFinite(scores),
    'a linear model has no tables',
  );
  at.forEach((from, column) =>
    must(
      from === -1 || (from >= 0 && from + specs[column].bins * width <= scores.length),
      'a linear model looks up beyond its table',
    ),
  );
  if (lines === undefined) {
    return;
  }
  const { columns, means, scales, lows, highs, mosts, weights } = (isRecord(lines) ? lines : {}) as Lines;
  must(
    isArrayOf(Uint16Array, columns) && columns.every((column) => hasNumbers[column]),
    'a line is of a column without numbers',
  );
  const { length } = columns;
  must(
    [means, scales, lows, highs, ...(mosts === undefined ? [] : [mosts])].every(
      (one) => isArrayOf(Float64Array, one, length) && areFinite(one),
    ) &&
      isArrayOf(Float64Array, weights, length * width) &&
      areFinite(weights),
    'a line is not numbers',
  );
}

/** Checks the kernel of Gaussian processes. @throws LearnerError */
export function checkKernel(value: unknown, { specs }: Columns): asserts value is Kernel {
  const { columns, kinds, means, scales, rates, points } = (isRecord(value) ? value : {}) as Partial<Kernel>;
  must(
    isArrayOf(Uint16Array, columns) && columns.length > 0 && columns.length <= MOST_DIMENSIONS,
    'a Gaussian process has no dimensions',
  );
  const { length } = columns;
  must(
    columns.every((column) => column < specs.length) &&
      isArrayOf(Uint8Array, kinds, length) &&
      areWithin(kinds, Math.max(...Object.values(KIND))) &&
      [means, scales, rates].every((one) => isArrayOf(Float64Array, one, length) && areFinite(one)) &&
      // The exponential is looked up, in a table for what falls with the distance.
      rates!.every((rate) => rate >= 0),
    'a dimension of a Gaussian process is of no column',
  );
  must(
    isArrayOf(Float32Array, points) &&
      points.length % length === 0 &&
      points.length <= MOST_POINTS * length &&
      areFinite(points),
    'a Gaussian process has too many points',
  );
}

/** Checks the distribution of residuals. @throws LearnerError */
export function checkResiduals(value: unknown, columns: number): asserts value is ResidualForest {
  must(isRecord(value), 'it has no residuals');
  const { atoms, overall, mix, borders, trees, offsets, members } = value as unknown as ResidualForest;
  must(
    isArrayOf(Float64Array, atoms) &&
      atoms.length > 0 &&
      atoms.length <= MOST_ATOMS &&
      areFinite(atoms) &&
      areAscending(atoms) &&
      isArrayOf(Float64Array, overall, atoms.length) &&
      areFinite(overall) &&
      overall.every((weight) => weight >= 0) &&
      overall.some((weight) => weight > 0),
    'its residuals do not ascend',
  );
  must(isFiniteNumber(mix) && mix >= 0 && mix <= 1, 'its residuals are mixed with none');
  must(
    isArrayOf(Float64Array, borders) && borders.length < 255 && areAscending(borders),
    'the borders of its predictions do not ascend',
  );
  // The last column is the prediction.
  checkTrees(trees, columns + 1, 1);
  must(trees.roots.length <= MOST_FOREST_TREES, 'its residuals have too many trees');
  must(
    isArrayOf(Int32Array, offsets, trees.values.length + 1) &&
      offsets[0] === 0 &&
      areAscending(offsets) &&
      isArrayOf(Uint16Array, members, offsets[offsets.length - 1]) &&
      areWithin(members, atoms.length - 1),
    'a leaf lists residuals that are not there',
  );
  for (let leaf = 0; leaf + 1 < offsets.length; leaf++) {
    must(offsets[leaf + 1] - offsets[leaf] <= MOST_LEAF_ROWS, 'a leaf lists too many residuals');
  }
}
