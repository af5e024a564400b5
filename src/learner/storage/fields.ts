import type { ResidualForest } from '../calibration/residuals';
import { DATE_PARTS } from '../features/dates';
import { type ColumnSpec, columnSpecs, type Encoder } from '../features/encode';
import type { LevelShare } from '../features/level-shares';
import { type Kernel, KIND } from '../gaussian/kernel';
import { MOST_RIDGE_COLUMNS, type Ridge } from '../gaussian/ridges';
import { MAX_TERMS } from '../linear/design';
import type { LinearTables, LinearTerms } from '../linear/linear';
import { type Background, BACKGROUND_ROWS, type Model } from '../model/model';
import { isCategoryNode, LEAF, MAX_TREE_DEPTH, SET_WORDS, type Trees } from '../trees/trees';
import type { FeatureColumn } from '../types';
import {
  among,
  areAscending,
  areFinite,
  areNotNegative,
  checked,
  each,
  f32,
  f64,
  type Faults,
  i32,
  isBoolean,
  isFiniteNumber,
  isPositive,
  isRecord,
  isShare,
  isText,
  listOf,
  must,
  noneAbove,
  orMissing,
  passes,
  readLength,
  type Test,
  u8,
  u16,
  upTo,
} from './checks';

/*
 * What a model file holds: the fields of each record, their types, lengths and bounds, and what is wrong where they are
 * others. All that predicting and explaining rest on is checked here, so that they end, and read nothing beyond their arrays.
 */

/** More than any fit produces. */
const MOST_FEATURES = 16_384;
const MOST_BUCKETS = 4096;
const MOST_PLACES = 4096;
const MOST_ATOMS = 4096;
const MOST_FOREST_TREES = 1000;
/** Predicting a row visits the rows of a leaf of each tree. */
const MOST_LEAF_ROWS = 20_000;
/** Loading takes their third power. */
const MOST_POINTS = 1024;
const MOST_DIMENSIONS = 64;
/** A bin is a byte, and two of them are for missing and for rare values. */
const MOST_NAMED = 254;

const NO_NUMBERS = 'a line is of a column without numbers';

const isMissing: Test = (value) => value === undefined;
const finite = (length?: number): Test => f64(length, areFinite);
/** The exponential is looked up, in a table for what falls with the distance. */
const falling = (length: number): Test => f64(length, areFinite, areNotNegative);

/** The binned columns of a model. */
export interface Columns {
  specs: ColumnSpec[];
  /** Per column, whether its values are known as numbers too. */
  hasNumbers: boolean[];
  /** Kinds of the features. */
  kinds: FeatureColumn['kind'][];
}

const BORDERS = { 'the borders of a column do not ascend': { borders: f64([0, MOST_NAMED], areAscending) } };
const SHARE = {
  'an encoder names levels of no share': {
    share: orMissing(
      (share) =>
        passes(share, { of: upTo(LEAF) }) && passes(share, { index: upTo((share as LevelShare).of - 1) }),
    ),
  },
};

/** What an encoder may be of, and holds. */
const ENCODERS: Record<
  Encoder['type'],
  { of: readonly FeatureColumn['kind'][]; holds: Faults<Record<string, unknown>> }
> = {
  number: { of: ['number'], holds: BORDERS },
  numberCategory: {
    of: ['number'],
    holds: { 'an encoder holds no numbers': { values: f64([0, MOST_NAMED]) }, ...SHARE },
  },
  between: { of: ['number', 'date'], holds: BORDERS },
  date: { of: ['date'], holds: BORDERS },
  category: {
    of: ['text'],
    holds: { 'an encoder holds no texts': { values: listOf([0, MOST_NAMED], isText) }, ...SHARE },
  },
  length: { of: ['text'], holds: BORDERS },
  numberInText: { of: ['text'], holds: BORDERS },
  tokens: { of: ['text'], holds: { 'an encoder holds no texts': { tokens: listOf([0, LEAF], isText) } } },
};

/** The columns of features and encoders, which may be anything. @throws LearnerError */
export function readColumns(features: unknown, encoders: unknown): Columns {
  must(Array.isArray(features) && features.length <= MOST_FEATURES, 'its features are no list');
  const kinds = features.map((feature) => {
    const { kind } = checked<Model['features'][number]>(feature, {
      'a feature has no name or kind': { name: isText, kind: among(['number', 'date', 'text']) },
    });
    return kind;
  });
  must(Array.isArray(encoders) && encoders.length < LEAF, 'its encoders are no list');
  const known: Encoder[] = [];
  let columns = 0;
  for (const value of encoders) {
    const encoder = readEncoder(value, kinds);
    known.push(encoder);
    columns += encoder.type === 'tokens' ? encoder.tokens.length : 1;
  }
  must(columns < LEAF, 'it has too many columns');
  const hasNumbers = known.flatMap((encoder) =>
    encoder.type === 'tokens'
      ? encoder.tokens.map(() => false)
      : [encoder.type === 'number' || encoder.type === 'date'],
  );
  return { specs: columnSpecs(known), hasNumbers, kinds };
}

function readEncoder(value: unknown, kinds: Columns['kinds']): Encoder {
  const encoder = checked<Encoder>(value, {
    'an encoder is of no known type': { type: among(Object.keys(ENCODERS)) },
    'an encoder is of no feature': { source: upTo(kinds.length - 1) },
  });
  const kind = kinds[encoder.source];
  const { of, holds } = ENCODERS[encoder.type];
  must(of.includes(kind), 'an encoder is of a feature of another kind');
  checked(encoder, holds);
  const named = readLength(encoder, 'values');
  must(named < MOST_NAMED || !('share' in encoder && encoder.share), 'an encoder names levels of no share');
  if (encoder.type === 'date' || encoder.type === 'between') {
    must(
      among(kind === 'date' ? DATE_PARTS : [undefined])(encoder.part),
      'an encoder is of no part of a date',
    );
  }
  return encoder;
}

const IS_REGRESSION: Faults<Model> = {
  'it is of numbers and of classes': { calibration: isMissing, classes: listOf(0) },
  'its mean is of no known kind': { meanOfDistribution: among([undefined, true]) },
};

const isClassification = (classes: number): Faults<Model> => ({
  'it is of no known task': { task: among(['classification']), residuals: isMissing },
  'a class has no label': {
    classes: listOf([1, Infinity], (label) => ['string', 'number', 'boolean'].includes(typeof label)),
  },
  'it is not calibrated': {
    calibration: {
      temperature: isPositive,
      noise: isShare,
      priors: f64(classes, areFinite, areNotNegative),
      averageScores: isBoolean,
      softmaxTemperature: isPositive,
      balance: isBoolean,
    },
  },
  'its threshold is of no class': {
    threshold: orMissing({ of: (of) => classes === 2 && upTo(1)(of), at: isFiniteNumber }),
  },
});

/** Checks how scores become answers. @returns scores per row @throws LearnerError */
export function checkAnswers(model: Model, { specs, kinds }: Columns): number {
  const isFeature = upTo(kinds.length - 1);
  const classes = readLength(model, 'classes');
  checked<Model>(model, {
    'it holds no classes, or no report': { classes: listOf(undefined), report: isRecord },
    'it has no scale': { center: isFiniteNumber, scale: isFiniteNumber },
    ...(model.task === 'regression' ? IS_REGRESSION : isClassification(classes)),
    'the means of its bins are no list': { centers: orMissing(listOf(specs.length)) },
    'the means of bins are no numbers': {
      centers: orMissing(
        listOf(
          specs.length,
          (means, column) => means === null || orMissing(finite(specs[column].bins))(means),
        ),
      ),
    },
    'it grows with no level': {
      growth: orMissing({
        level: (level) => isFeature(level) && kinds[level as number] === 'number',
        floor: isPositive,
        divided: listOf([0, kinds.length], isFeature),
        smearing: isFiniteNumber,
      }),
    },
  });
  return classes === 2 ? 1 : Math.max(1, classes);
}

/**
 * Checks the rows that explanations compare with.
 *
 * @param along columns that a line takes as numbers
 * @throws LearnerError
 */
export function checkBackground(value: unknown, { specs, kinds }: Columns, along: Iterable<number>): void {
  const { rows, numbers } = (value ?? {}) as Background;
  const usual = f64(kinds.length);
  checked<Background>(value, {
    'its background is no rows': {},
    'its background has no rows': { rows: (count) => count !== 0 && upTo(BACKGROUND_ROWS)(count) },
    'its background has other columns': { columns: listOf(specs.length) },
    'its background has bins that are not there': {
      columns: listOf(specs.length, (bins, column) => u8(rows, noneAbove(specs[column].bins - 1))(bins)),
    },
    'its background has other numbers': {
      numbers: orMissing(listOf(specs.length, (one) => one === null || f64(rows)(one))),
    },
    'its background lacks the numbers of a line': {
      numbers: () => Array.from(along).every((column) => f64()(numbers?.[column])),
    },
    'its background lacks what is usual': { low: usual, high: usual, mean: usual },
  });
}

/** Checks the terms of a linear model, before its tables are made. @throws LearnerError */
export function checkTerms(terms: LinearTerms, { specs, hasNumbers }: Columns, width: number): void {
  const { length } = terms.rules;
  checked<LinearTerms>(terms, {
    'a linear model has too many terms': { rules: listOf([0, MAX_TERMS]), columns: u16(length) },
    'a linear model lacks weights': { weights: f32(length * width, areFinite) },
    'a linear model clips in no known way': {
      wholeIfNearer: among(width === 1 ? [undefined, true] : [undefined]),
    },
  });
  terms.rules.forEach(({ kind, ...numbers }, t) => {
    const column = terms.columns[t];
    must(column < specs.length, 'a term is of a column that is not there');
    must(Object.values(numbers).every(isFiniteNumber), 'a term is not a number');
    must(!('bin' in numbers) || numbers.bin < specs[column].bins, 'a term is of no category');
    must((kind !== 'number' && kind !== 'whole') || hasNumbers[column], NO_NUMBERS);
  });
}

/** A linear model that is stored as tables, as earlier versions did. @throws LearnerError */
export function storedTables(value: unknown, { specs, hasNumbers }: Columns, width: number): LinearTables {
  const sizes = specs.map(({ bins }) => bins * width);
  const places = readLength(value, 'scores');
  const tables = checked<LinearTables>(value, {
    'a linear model has no tables': {
      terms: isMissing,
      base: finite(width),
      at: i32(specs.length),
      scores: f32(undefined, areFinite),
    },
    'a linear model looks up beyond its table': {
      at: i32(specs.length, (at) =>
        at.every((from, column) => from === -1 || (from >= 0 && from + sizes[column] <= places)),
      ),
    },
  });
  const lines = readLength(tables.lines, 'columns');
  checked<LinearTables>(tables, {
    [NO_NUMBERS]: {
      lines: orMissing({
        columns: u16(
          lines,
          each((column) => hasNumbers[column]),
        ),
      }),
    },
    'a line is not numbers': {
      lines: orMissing({
        means: finite(lines),
        scales: finite(lines),
        lows: finite(lines),
        highs: finite(lines),
        mosts: orMissing(finite(lines)),
        weights: finite(lines * width),
      }),
    },
  });
  return tables;
}

/** The kernel of Gaussian processes. @throws LearnerError */
export function readKernel(value: unknown, { specs }: Columns): Kernel {
  const dimensions = readLength(value, 'columns');
  return checked<Kernel>(value, {
    'a Gaussian process has no dimensions': { columns: u16([1, MOST_DIMENSIONS]) },
    'a dimension of a Gaussian process is of no column': {
      columns: u16(dimensions, noneAbove(specs.length - 1)),
      kinds: u8(dimensions, noneAbove(Math.max(...Object.values(KIND)))),
      means: finite(dimensions),
      scales: finite(dimensions),
      rates: falling(dimensions),
    },
    'an additive kernel is of no dimensions': {
      additive: orMissing({
        share: isShare,
        rates: falling(dimensions),
        weights: f64(dimensions, each(isShare)),
      }),
    },
    'a Gaussian process has too many points': {
      points: f32([0, MOST_POINTS * dimensions], ({ length }) => length % dimensions === 0, areFinite),
    },
  });
}

/** A function of one direction. @throws LearnerError */
export function readRidge(value: unknown, { hasNumbers }: Columns): Ridge {
  const columns = readLength(value, 'columns');
  return checked<Ridge>(value, {
    'a direction is of no columns': {
      columns: u16(
        [1, MOST_RIDGE_COLUMNS],
        each((column) => hasNumbers[column]),
      ),
    },
    'a direction has no weights': {
      means: finite(columns),
      scales: finite(columns),
      weights: finite(columns),
      from: isFiniteNumber,
      step: isPositive,
    },
    'a direction has no values': { values: f32([2, MOST_PLACES], areFinite) },
  });
}

/** Checks the buckets of the full distribution. @throws LearnerError */
export function checkBuckets(model: Model): void {
  checked<Model>(model, {
    'the borders of its distribution do not ascend': { borders: f64([2, MOST_BUCKETS], areAscending) },
    'the floor of its distribution is of no buckets': {
      floor: orMissing({
        weight: isShare,
        shares: f64(
          readLength(model, 'borders') - 1,
          each((share) => share > 0 && share <= 1),
        ),
      }),
    },
  });
}

/** The distribution of residuals. @throws LearnerError */
export function residualsOf(value: unknown, columns: number): ResidualForest {
  const atoms = readLength(value, 'atoms');
  const forest = checked<ResidualForest>(value, {
    'it has no residuals': {},
    'its residuals do not ascend': {
      atoms: f64([1, MOST_ATOMS], areFinite, areAscending),
      overall: f64(atoms, areFinite, areNotNegative, (weights) => weights.some((weight) => weight > 0)),
    },
    'its residuals are mixed with none': { mix: isShare },
    'the borders of its predictions do not ascend': { borders: f64([0, MOST_NAMED], areAscending) },
  });
  // The last column is the prediction.
  const { roots, values } = treesOf(forest.trees, columns + 1, 1);
  must(roots.length <= MOST_FOREST_TREES, 'its residuals have too many trees');
  const { offsets } = forest;
  checked<ResidualForest>(forest, {
    'a leaf lists residuals that are not there': {
      offsets: i32(values.length + 1, (all) => all[0] === 0, areAscending),
      members: (members) => u16(offsets[values.length], noneAbove(atoms - 1))(members),
    },
    'a leaf lists too many residuals': {
      offsets: i32(undefined, (all) =>
        all.every((end, leaf) => end - (all[leaf - 1] ?? 0) <= MOST_LEAF_ROWS),
      ),
    },
  });
  return forest;
}

/**
 * Trees, so that every walk from a root ends at a leaf: each node has one parent, before it in its own tree; columns, sets
 * and values are where nodes say.
 *
 * @param columns that a node may split by
 * @param width of the outputs: a leaf has a value for each, or one
 * @throws LearnerError
 */
export function treesOf(value: unknown, columns: number, width: number): Trees {
  const nodes = readLength(value, 'feature');
  const trees = checked<Trees>(value, {
    'it has a part without trees': {},
    'its trees lack a part': {
      roots: i32(),
      feature: u16(),
      bin: u8(nodes),
      flags: u8(nodes),
      left: i32(nodes),
      setAt: i32(nodes),
      sets: i32(),
      values: f32(),
    },
    'its trees are of other outputs': { width: among([1, width]) },
    'a leaf is not a number': { values: f32(undefined, areFinite) },
  });
  const { roots, feature, left, setAt, sets, values } = trees;
  must(roots.length > 0 ? roots[0] === 0 : nodes === 0, 'its trees begin elsewhere');
  const lastValue = values.length - trees.width;
  const lastSet = sets.length - SET_WORDS;
  /** 0 for a root, and for a node that no other one has as its child. */
  const depth = new Uint16Array(nodes);
  for (let tree = 0; tree < roots.length; tree++) {
    const root = roots[tree];
    const end = tree + 1 < roots.length ? roots[tree + 1] : nodes;
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
  return trees;
}
