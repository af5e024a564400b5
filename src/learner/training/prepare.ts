import { chooseEncoders, type ColumnSpec, type Encoder, shareTokens } from '../features/encode';
import { square } from '../math/numeric';
import { Random } from '../math/random';
import {
  type Background,
  divideByLevel,
  type LevelGrowth,
  logOfChange,
  makeBackground,
  readLevels,
} from '../model/model';
import { classLogLoss, squaredError } from '../trees/loss';
import { GROWTH } from '../tuned';
import { type FeatureColumn, type Label, LearnerError, type TargetColumn, type TrainInput } from '../types';
import { withoutCopies } from './copies';
import { findGrowth, lineError } from './growing';
import { DEFAULT_BLOCKS, type LearnerSettings, readOptions } from './options';
import { assignParts, type Clusters, cutBlocks, findGroups, findRounds } from './parts';
import { binsFor, makePlan, type PlannedTrees, randomisedRules, type TrainingPlan } from './plan';
import {
  encodeAll,
  hasCalendar,
  isLearnedFromNeighbours,
  wantsCalendar,
  wantsSingleRowsOfMany,
  withFinerBins,
} from './trials';

/** What every fold needs, made once from the input. Structured-cloneable; its large arrays are in shared memory. */
export interface PreparedFit {
  /** Folds to train: numbers 0 … folds - 1, in any order, in any thread. */
  readonly folds: number;
  /** Without `copies` rows that stand in the table more than once. */
  rows: number;
  copies: number;
  /** Whether rows are held out in blocks because they are learned from their neighbours otherwise. */
  learnsNeighbours: boolean;
  features: { name: string; kind: FeatureColumn['kind'] }[];
  encoders: Encoder[];
  specs: ColumnSpec[];
  /** columns × rows: bins. */
  columns: Uint8Array[];
  /** columns × rows: values of numbers and dates, where a linear model is to be fitted; else undefined. */
  numbers: (Float64Array | undefined)[];
  /** columns × bins: mean value of each bin; undefined for categories. */
  centers: (Float64Array | undefined)[];
  task: 'classification' | 'regression';
  classes: Label[];
  /** Class of each row; empty for regression. */
  codes: Int32Array;
  /** (target - center) / scale; empty for classification. */
  values: Float64Array;
  center: number;
  scale: number;
  /** Where the target is the logarithm of a change that grows with its level; undefined: it is learned as it is. */
  growth: LevelGrowth | undefined;
  /** The level of each row, where there is a growth. */
  levels: Float64Array | undefined;
  /** Per row its part: fold f learns from all parts but f. */
  part: Uint8Array;
  /** What parts may not divide; undefined: rows are held out at random. */
  clusters: Clusters | undefined;
  /** The groups of rows, whether or not parts may divide them. */
  groups: Pick<Clusters, 'of' | 'count'> | undefined;
  settings: LearnerSettings;
  plan: TrainingPlan;
  /** One for each of `GIVEN_UP`: 1 once a fold has given that candidate up. */
  givenUp: Int32Array;
  background: Background;
}

/** A fit whose rows are as they were given. */
type Shaped = Omit<PreparedFit, 'copies' | 'learnsNeighbours'>;

/** Candidates that a fold gives up where they are not worth their time. */
const GIVEN_UP = ['low noise', 'randomised'] as const;

/**
 * A candidate counts only where all folds have it, so the others need not learn it either. Which folds find that out in
 * time differs, the model does not.
 */
export function giveUp({ givenUp }: PreparedFit, candidate: (typeof GIVEN_UP)[number]): void {
  Atomics.store(givenUp, GIVEN_UP.indexOf(candidate), 1);
}

export function isGivenUp({ givenUp }: PreparedFit, candidate: (typeof GIVEN_UP)[number]): boolean {
  return Atomics.load(givenUp, GIVEN_UP.indexOf(candidate)) === 1;
}

/** Numbers of the random streams, one per purpose. */
export const STREAM = {
  bins: 1,
  parts: 2,
  fold: 100,
  residuals: 3,
  importance: 4,
  background: 5,
  gaussian: 6,
  leaves: 7,
  borders: 8,
  order: 9,
  calendar: 10,
} as const;

/** With fewer rounds of groups there are too few blocks of them to hold out. */
const FEWEST_ROUNDS = 3;

/** @throws LearnerError for missing target values, columns of unequal length, no rows, or a bad option. */
export function prepare(given: TrainInput): PreparedFit {
  assertEqualRows(given.features, given.target);
  assertTarget(given.target);
  const { input, copies } = withoutCopies(
    given,
    readOptions(given.options, given.features, given.target.task),
  );
  const prepared = prepareShape(input);
  const learnsNeighbours = wantsBlocks(prepared);
  return {
    ...(learnsNeighbours ? prepareShape(heldOutInBlocks(input)) : prepared),
    copies,
    learnsNeighbours,
  };
}

/** Whether classes whose rows are held out at random are better held out in blocks of consecutive rows. */
function wantsBlocks({ task, clusters, groups, plan, settings, ...table }: Shaped): boolean {
  const { holdOut } = settings;
  const isFree = clusters === undefined && groups === undefined && holdOut.folds !== 'random';
  const random = (stream: number) => new Random(settings.seed, STREAM.order, stream);
  return (
    task === 'classification' &&
    isFree &&
    // Of what is trivial, very long or very wide there is no linear model either: trials would take too long.
    plan.linear &&
    isLearnedFromNeighbours({ ...table, rules: plan.boosts[0], holdOut, random })
  );
}

/** The same, with blocks of consecutive rows to hold out. */
function heldOutInBlocks({ options, ...input }: TrainInput): TrainInput {
  const blocks = { ...options.inference_config, BLOCKS: DEFAULT_BLOCKS };
  return { ...input, options: { ...options, inference_config: blocks } };
}

/** The target as it is, or as a growth where that is asked for and fits better. */
function prepareShape(input: TrainInput): Shaped {
  const plain = prepareAs(input);
  const { target } = input;
  const { relativeTo, holdOut } = plain.settings;
  const isAsked = relativeTo !== undefined && holdOut.blocks !== undefined && plain.plan.linear;
  if (!isAsked || target.task !== 'regression') {
    return plain;
  }
  const features = input.features.filter((_, i) => i !== findLeftOut(plain.settings));
  const level = features.indexOf(input.features[relativeTo]);
  const growth = findGrowth(features, level, target.values);
  const asItIs = growth && lineError(plain, target.values);
  if (growth === undefined || asItIs === undefined) {
    return plain;
  }
  const grown = prepareAs(input, growth);
  const error = lineError(grown, target.values);
  return error !== undefined && error <= GROWTH.mayLose * asItIs ? grown : plain;
}

function prepareAs(input: TrainInput, growth?: LevelGrowth, calendar = true): Shaped {
  const settings = readOptions(input.options, input.features, input.target.task);
  const randomOf = (stream: keyof typeof STREAM) => (step?: number) =>
    new Random(settings.seed, STREAM[stream], step);
  const groups = readGroups(input.features, settings);
  const given = input.features.filter((_, i) => i !== groups?.leftOut);
  const features = growth === undefined ? given : divideByLevel(growth, given);
  const levels = growth && readLevels(growth, given);
  const target = levels === undefined ? input.target : takeLogs(input.target, levels);
  const { task } = target;
  const regression = task === 'regression';
  const classes = regression ? [] : target.classes;
  const { codes, values, center, scale } = readTarget(target);
  const rows = countRows(target);
  const { blocks, folds } = settings.holdOut;
  const maxBins = binsFor(rows, features.length);
  // A lone column stays whole: there would be nothing left to learn from.
  const inTime = blocks !== undefined && features.length > 1;
  const encoders = features.flatMap((feature, source) => {
    const asCategory = settings.categoryColumns.includes(input.features.indexOf(given[source]));
    const random = randomOf('bins')(source);
    return chooseEncoders(feature, source, { asCategory, inTime, calendar, maxBins, random });
  });
  shareTokens(encoders, rows, features.length);
  let encoded = encodeAll(encoders, features);
  if (encoded.specs.length >= 0xffff) {
    throw new LearnerError(`The table has too many columns: ${features.length}.`);
  }
  const rounds = folds === 'blocks' && groups?.clusters ? findRounds(groups.clusters) : undefined;
  const goOn = rounds !== undefined && rounds.count >= FEWEST_ROUNDS;
  const whole = goOn ? undefined : groups?.clusters;
  const maxParts = whole?.count ?? Math.min(blocks ?? rows, goOn ? rounds.count : rows);
  const plan = makePlan({ rows, specs: encoded.specs, task, classes: classes.length, settings, maxParts });
  const byBlocks =
    blocks === undefined || plan.parts < 2
      ? undefined
      : cutBlocks(target, settings.holdOut, blocks, plan.parts, rounds);
  const clusters = whole ?? byBlocks;
  plan.reasons.push(...(groups?.reasons ?? []), ...(clusters?.reasons ?? []));
  const divide = () => assignParts(target, clusters, plan.parts, randomOf('parts')());
  let part = divide();
  if (calendar && plan.linear && hasCalendar(encoders)) {
    const objective = regression ? squaredError(values) : classLogLoss(codes, classes.length);
    const trial = { ...encoded, objective, rules: plan.boosts[0], part, parts: plan.parts };
    if (!wantsCalendar({ ...trial, random: randomOf('calendar') })) {
      return prepareAs(input, growth, false);
    }
  }
  if (!regression && plan.lowNoise) {
    const { rules } = plan.lowNoise;
    const trial = { features, rules, codes, classes: classes.length, part, parts: plan.parts, maxBins };
    encoded = withFinerBins(encoded, { ...trial, random: randomOf('borders') });
  }
  const { columns, specs, centers } = encoded;
  const numbers = encoded.numbers.map((own) => (own && plan.linear ? sharedNumbers(own) : undefined));
  const random = randomOf('background')();
  const background = makeBackground(given, { columns, numbers }, rows, () => random.uniform());
  if (plan.randomised) {
    const table = { columns, numbers, specs, centers, part };
    const trial = { ...table, target: regression ? values : codes, classes: classes.length };
    const single = randomisedRules(rows, specs.length, regression, plan.folds, true);
    const ofModel = (rules: PlannedTrees) => ({ ...rules, trees: rules.trees * plan.folds });
    if (wantsSingleRowsOfMany(trial, [ofModel(plan.randomised), ofModel(single)], randomOf('leaves')())) {
      plan.randomised = single;
      // Where nearby rows predict each other, predictions are better the fewer of them are held out.
      if (plan.folds < plan.parts && clusters === undefined) {
        plan.parts *= 2;
        part = divide();
      }
    }
  }
  return {
    folds: plan.folds,
    rows,
    features: features.map(({ name, kind }) => ({ name, kind })),
    encoders: encoded.encoders,
    specs,
    columns,
    numbers,
    centers,
    task,
    classes,
    codes,
    values,
    center,
    scale,
    growth,
    levels,
    part,
    clusters,
    groups: groups?.clusters,
    settings,
    plan,
    givenUp: new Int32Array(new SharedArrayBuffer(4 * GIVEN_UP.length)),
    background,
  };
}

/** The logarithms of changes, in place of these. */
function takeLogs(target: TargetColumn, levels: Float64Array): TargetColumn {
  return target.task === 'classification'
    ? target
    : { task: target.task, values: target.values.map((change, row) => logOfChange(change, levels[row])) };
}

/** The number of the column of groups, where it is not a feature. */
function findLeftOut({ holdOut }: LearnerSettings): number | undefined {
  return holdOut.groupIsFeature ? undefined : holdOut.group;
}

/** The groups, where the user named a column of them; and the column to leave out, where it is not a feature. */
function readGroups(features: FeatureColumn[], settings: LearnerSettings) {
  const { holdOut } = settings;
  if (holdOut.group === undefined) {
    return undefined;
  }
  const column = features[holdOut.group];
  const clusters = findGroups(column);
  const leftOut = findLeftOut(settings);
  return clusters.count > 1
    ? { clusters, leftOut, reasons: [] }
    : {
        leftOut,
        reasons: [
          `Column "${column.name}" has the same value in every row: there are no groups to keep apart.`,
        ],
      };
}

function sharedNumbers(values: Float64Array): Float64Array {
  const out = new Float64Array(new SharedArrayBuffer(values.length * 8));
  out.set(values);
  return out;
}

function countRows(target: TargetColumn): number {
  return target.task === 'classification' ? target.codes.length : target.values.length;
}

function assertEqualRows(features: FeatureColumn[], target: TargetColumn): void {
  const rows = countRows(target);
  if (rows === 0) {
    throw new LearnerError('The train set has no rows.');
  }
  for (const feature of features) {
    const length = feature.kind === 'text' ? feature.codes.length : feature.values.length;
    if (length !== rows) {
      throw new LearnerError(`Column "${feature.name}" has ${length} rows, the target ${rows}.`);
    }
  }
}

function assertTarget(target: TargetColumn): void {
  if (target.task === 'classification') {
    const missing = target.codes.findIndex((code) => code < 0 || code >= target.classes.length);
    if (missing >= 0) {
      throw new LearnerError(`The target has no value in row ${missing + 1}.`);
    }
    return;
  }
  const odd = target.values.findIndex((value) => !Number.isFinite(value));
  if (odd >= 0) {
    const what = Number.isNaN(target.values[odd]) ? 'no value' : 'an infinite value';
    throw new LearnerError(`The target has ${what} in row ${odd + 1}.`);
  }
}

function readTarget(target: TargetColumn): Pick<PreparedFit, 'codes' | 'values' | 'center' | 'scale'> {
  if (target.task === 'classification') {
    const codes = new Int32Array(new SharedArrayBuffer(target.codes.length * 4));
    codes.set(target.codes);
    return { codes, values: new Float64Array(0), center: 0, scale: 1 };
  }
  const { center, scale } = centerAndScale(target.values);
  const values = new Float64Array(new SharedArrayBuffer(target.values.length * 8));
  for (let row = 0; row < values.length; row++) {
    values[row] = (target.values[row] - center) / scale;
  }
  return { codes: new Int32Array(0), values, center, scale };
}

/** Mean and standard deviation, computed without overflow; scale 1 for a constant target. */
function centerAndScale(values: Float64Array): { center: number; scale: number } {
  const first = values[0];
  let sum = 0;
  for (const value of values) {
    sum += value / values.length - first / values.length;
  }
  const center = first + sum;
  let largest = 0;
  for (const value of values) {
    largest = Math.max(largest, Math.abs(value - center));
  }
  if (!(largest > 0) || largest === Infinity) {
    return { center, scale: largest > 0 ? 1e300 : 1 };
  }
  let squares = 0;
  for (const value of values) {
    squares += square((value - center) / largest);
  }
  return { center, scale: largest * Math.sqrt(squares / values.length) };
}
