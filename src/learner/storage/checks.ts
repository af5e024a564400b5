import type { ResidualForest } from '../calibration/residuals';
import { DATE_PARTS } from '../features/dates';
import { type ColumnSpec, columnSpecs, type Encoder } from '../features/encode';
import type { LevelShare } from '../features/level-shares';
import { type Additive, type Kernel, KIND } from '../gaussian/kernel';
import { MOST_RIDGE_COLUMNS, type Ridge } from '../gaussian/ridges';
import { MAX_TERMS } from '../linear/design';
import type { LinearTables, LinearTerms, Lines } from '../linear/linear';
import { type Background, BACKGROUND_ROWS, type LevelGrowth } from '../model/model';
import { isCategoryNode, LEAF, MAX_TREE_DEPTH, SET_WORDS, type Trees } from '../trees/trees';
import { type FeatureColumn, LearnerError } from '../types';

/** Far more features than any table has. */
const MOST_FEATURES = 16_384;
/** A bin is a byte, and two of them are for missing and for rare values. */
const MOST_NAMED = 254;

/** The binned columns of a model. */
export interface Columns {
  specs: ColumnSpec[];
  /** Per column, whether its values are known as numbers too. */
  hasNumbers: boolean[];
  /** Kinds of the features. */
  kinds: FeatureColumn['kind'][];
}

/** What an encoder may be of. */
const KINDS: Record<Encoder['type'], readonly FeatureColumn['kind'][]> = {
  number: ['number'],
  numberCategory: ['number'],
  between: ['number', 'date'],
  date: ['date'],
  category: ['text'],
  length: ['text'],
  numberInText: ['text'],
  tokens: ['text'],
};

/** Checks features and encoders, which may be anything. @throws LearnerError */
export function checkedColumns(features: unknown, encoders: unknown): Columns {
  must(Array.isArray(features) && features.length <= MOST_FEATURES, 'its features are no list');
  const kinds = features.map((feature: unknown) => {
    must(
      isRecord(feature) &&
        typeof feature.name === 'string' &&
        (feature.kind === 'number' || feature.kind === 'date' || feature.kind === 'text'),
      'a feature has no name or kind',
    );
    return feature.kind;
  });
  must(Array.isArray(encoders) && encoders.length < LEAF, 'its encoders are no list');
  let columns = 0;
  for (const encoder of encoders as unknown[]) {
    checkEncoder(encoder, kinds);
    columns += encoder.type === 'tokens' ? encoder.tokens.length : 1;
  }
  must(columns < LEAF, 'it has too many columns');
  const known = encoders as Encoder[];
  const specs = columnSpecs(known);
  const hasNumbers = known.flatMap((encoder) => {
    const has = encoder.type === 'number' || encoder.type === 'date';
    return encoder.type === 'tokens' ? encoder.tokens.map(() => has) : [has];
  });
  return { specs, hasNumbers, kinds };
}

function checkEncoder(value: unknown, kinds: FeatureColumn['kind'][]): asserts value is Encoder {
  const encoder = fieldsOf<Encoder>(value) as Partial<Encoder> & Record<string, unknown>;
  const { type, source, part } = encoder;
  must(typeof type === 'string' && Object.hasOwn(KINDS, type), 'an encoder is of no known type');
  must(isCount(source, kinds.length - 1), 'an encoder is of no feature');
  const kind = kinds[source];
  must(KINDS[type].includes(kind), 'an encoder is of a feature of another kind');
  if (type === 'category' || type === 'tokens') {
    const texts = encoder[type === 'category' ? 'values' : 'tokens'];
    const most = type === 'category' ? MOST_NAMED : LEAF;
    must(
      Array.isArray(texts) && texts.length <= most && texts.every((text) => typeof text === 'string'),
      'an encoder holds no texts',
    );
    checkShare(type === 'category' ? encoder.share : undefined, texts.length);
    return;
  }
  if (type === 'numberCategory') {
    const { values, share } = encoder;
    must(isArrayOf(Float64Array, values) && values.length <= MOST_NAMED, 'an encoder holds no numbers');
    checkShare(share, values.length);
    return;
  }
  const { borders } = encoder;
  must(
    isArrayOf(Float64Array, borders) && borders.length <= MOST_NAMED && areAscending(borders),
    'the borders of a column do not ascend',
  );
  if (type === 'date' || type === 'between') {
    const isDate = (DATE_PARTS as readonly unknown[]).includes(part);
    must(kind === 'date' ? isDate : part === undefined, 'an encoder is of no part of a date');
  }
}

/** Checks which levels of a column are named, where others name the rest. @throws LearnerError */
function checkShare(share: unknown, named: number): void {
  if (share === undefined) {
    return;
  }
  const { index, of } = fieldsOf<Record<keyof LevelShare, unknown>>(share);
  must(
    isCount(of, LEAF) && isCount(index, of - 1) && named < MOST_NAMED,
    'an encoder names levels of no share',
  );
}

/** Checks the mean values of bins. @throws LearnerError */
export function checkCenters(centers: unknown, { specs }: Columns): void {
  must(
    centers === undefined || (Array.isArray(centers) && centers.length === specs.length),
    'the means of its bins are no list',
  );
  (centers ?? []).forEach((means: unknown, column) => {
    const isMissing = means === null || means === undefined;
    must(
      isMissing || (isArrayOf(Float64Array, means, specs[column].bins) && areFinite(means)),
      'the means of bins are no numbers',
    );
  });
}

/**
 * Checks the rows that explanations compare with.
 *
 * @param along columns that a line takes as numbers
 * @throws LearnerError
 */
export function checkBackground(value: unknown, { specs, kinds }: Columns, along: Iterable<number>): void {
  if (value === undefined) {
    return;
  }
  must(isRecord(value), 'its background is no rows');
  const { rows, columns, numbers, low, high, mean } = value as unknown as Background;
  must(isCount(rows, BACKGROUND_ROWS) && rows > 0, 'its background has no rows');
  must(Array.isArray(columns) && columns.length === specs.length, 'its background has other columns');
  columns.forEach((bins: unknown, column) =>
    must(
      isArrayOf(Uint8Array, bins, rows) && areWithin(bins, specs[column].bins - 1),
      'its background has bins that are not there',
    ),
  );
  must(
    numbers === undefined ||
      (Array.isArray(numbers) &&
        numbers.length === specs.length &&
        numbers.every((one: unknown) => one === null || isArrayOf(Float64Array, one, rows))),
    'its background has other numbers',
  );
  for (const column of along) {
    must(isArrayOf(Float64Array, numbers?.[column]), 'its background lacks the numbers of a line');
  }
  must(
    [low, high, mean].every((one: unknown) => isArrayOf(Float64Array, one, kinds.length)),
    'its background lacks what is usual',
  );
}

/** Checks how a change grows with its level. @throws LearnerError */
export function checkGrowth(value: unknown, { kinds }: Columns): void {
  if (value === undefined) {
    return;
  }
  const { level, floor, divided, smearing } = fieldsOf<LevelGrowth>(value);
  must(
    isCount(level, kinds.length - 1) &&
      kinds[level] === 'number' &&
      isFiniteNumber(floor) &&
      floor > 0 &&
      isFiniteNumber(smearing) &&
      Array.isArray(divided) &&
      divided.length <= kinds.length &&
      divided.every((feature) => isCount(feature, kinds.length - 1)),
    'it grows with no level',
  );
}

/** More than any fit chooses: loading takes their third power. */
const MOST_POINTS = 1024;
const MOST_DIMENSIONS = 64;
/** Far more than any fit produces; predicting a row visits the rows of a leaf of each tree. */
const MOST_ATOMS = 4096;
const MOST_FOREST_TREES = 1000;
const MOST_LEAF_ROWS = 20_000;

/** Checks the terms of a linear model before its tables are made. @throws LearnerError */
export function checkTerms(
  { columns, rules, wholeIfNearer, weights }: LinearTerms,
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
  must(
    (width === 1 ? [undefined, true] : [undefined]).includes(wholeIfNearer),
    'a linear model clips in no known way',
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
  const { columns, means, scales, lows, highs, mosts, weights } = fieldsOf<Lines>(lines) as Lines;
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
  const { columns, kinds, means, scales, rates, additive, points } = fieldsOf<Kernel>(value);
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
  checkAdditive(additive, length);
  must(
    isArrayOf(Float32Array, points) &&
      points.length % length === 0 &&
      points.length <= MOST_POINTS * length &&
      areFinite(points),
    'a Gaussian process has too many points',
  );
}

function checkAdditive(value: unknown, dimensions: number): void {
  const { share, rates, weights } = fieldsOf<Additive>(value);
  must(
    value === undefined ||
      (isShare(share) &&
        isArrayOf(Float64Array, rates, dimensions) &&
        areFinite(rates) &&
        rates.every((rate) => rate >= 0) &&
        isArrayOf(Float64Array, weights, dimensions) &&
        weights.every(isShare)),
    'an additive kernel is of no dimensions',
  );
}

/** Far more places than any fit has. */
const MOST_PLACES = 4096;

/** Checks a function of one direction. @throws LearnerError */
export function checkRidge(value: unknown, { specs, hasNumbers }: Columns): asserts value is Ridge {
  const { columns, means, scales, weights, from, step, values } = fieldsOf<Ridge>(value);
  must(
    isArrayOf(Uint16Array, columns) &&
      columns.length > 0 &&
      columns.length <= MOST_RIDGE_COLUMNS &&
      columns.every((column) => column < specs.length && hasNumbers[column]),
    'a direction is of no columns',
  );
  must(
    [means, scales, weights].every((one) => isArrayOf(Float64Array, one, columns.length) && areFinite(one)) &&
      isFiniteNumber(from) &&
      isFiniteNumber(step) &&
      step > 0,
    'a direction has no weights',
  );
  must(
    isArrayOf(Float32Array, values) && values.length > 1 && values.length <= MOST_PLACES && areFinite(values),
    'a direction has no values',
  );
}

const isShare = (value: unknown): value is number => isFiniteNumber(value) && value >= 0 && value <= 1;

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

/**
 * Checks trees, which may be anything, so that every walk from a root ends at a leaf: each node has one parent, before it
 * in its own tree; columns, sets and values are where nodes say.
 *
 * @param columns that a node may split by
 * @param width of the outputs: a leaf has a value for each, or one
 * @throws LearnerError
 */
export function checkTrees(value: unknown, columns: number, width: number): asserts value is Trees {
  must(isRecord(value), 'it has a part without trees');
  const trees = value as unknown as Trees;
  const { roots, feature, bin, flags, left, setAt, sets, values } = trees;
  const nodes = feature instanceof Uint16Array ? feature.length : -1;
  must(
    isArrayOf(Int32Array, roots) &&
      isArrayOf(Uint8Array, bin, nodes) &&
      isArrayOf(Uint8Array, flags, nodes) &&
      isArrayOf(Int32Array, left, nodes) &&
      isArrayOf(Int32Array, setAt, nodes) &&
      isArrayOf(Int32Array, sets) &&
      isArrayOf(Float32Array, values),
    'its trees lack a part',
  );
  must(trees.width === 1 || trees.width === width, 'its trees are of other outputs');
  must(areFinite(values), 'a leaf is not a number');
  must(roots.length > 0 ? roots[0] === 0 : nodes === 0, 'its trees begin elsewhere');
  const lastValue = values.length - trees.width;
  const lastSet = sets.length - SET_WORDS;
  /** 0 for a root, and for a node that no other one has as its child. */
  const depth = new Uint16Array(nodes);
  for (let tree = 0; tree < roots.length; tree++) {
    const root: number = roots[tree];
    const end: number = tree + 1 < roots.length ? roots[tree + 1] : nodes;
    must(root < end && end <= nodes, 'a tree ends before it begins');
    for (let node = root; node < end; node++) {
      const next = left[node];
      must(depth[node] > 0 || node === root, 'a node is in no tree');
      if (feature[node] === LEAF) {
        must(next >= 0 && next <= lastValue, 'a leaf has no value');
        continue;
      }
      must(feature[node] < columns, 'a node splits by a column that is not there');
      must(next > node && next + 1 < end, 'a node has no children after it');
      must(depth[next] === 0 && depth[next + 1] === 0, 'a node has two parents');
      must(depth[node] < MAX_TREE_DEPTH, 'a tree is too deep');
      must(!isCategoryNode(trees, node) || (setAt[node] >= 0 && setAt[node] <= lastSet), 'a node has no set');
      depth[next] = depth[next + 1] = depth[node] + 1;
    }
  }
}

/*
 * What every check of a stored model is made of. A file may be damaged, or have been made to harm: what is read once here
 * is trusted by all that walks it later.
 */

/** @throws LearnerError unless it is so @param fault what is wrong otherwise */
export function must(isSound: boolean, fault: string): asserts isSound {
  if (!isSound) {
    throw new LearnerError(`The model is damaged: ${fault}.`);
  }
}

/** A whole number from 0 to `most`. */
export function isCount(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

export function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** An object that is neither null, a list nor an array of numbers. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** The fields of what may be anything: none where it is no record. */
export function fieldsOf<T>(value: unknown): Partial<T> {
  return isRecord(value) ? (value as Partial<T>) : {};
}

type Numbers = Float64Array | Float32Array | Int32Array | Uint16Array | Uint8Array;

/** An array of that type and, where it is given, length. */
export function isArrayOf<T extends Numbers>(
  type: new (length: number) => T,
  value: unknown,
  length?: number,
): value is T {
  return value instanceof type && (length === undefined || value.length === length);
}

export function areFinite(values: Float64Array | Float32Array): boolean {
  // A sum of products with 0 is 0 unless one of them is not finite: no branch per number.
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    sum += values[i] * 0;
  }
  return sum === 0;
}

/** Without missing values, and none smaller than the one before. */
export function areAscending(values: Float64Array | Int32Array): boolean {
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] >= values[Math.max(0, i - 1)])) {
      return false;
    }
  }
  return true;
}

/** None above `most`. */
function areWithin(values: Uint8Array | Uint16Array, most: number): boolean {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    largest = values[i] > largest ? values[i] : largest;
  }
  return largest <= most;
}
