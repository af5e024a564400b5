import type { ColumnSpec } from '../features/encode';
import { MAX_TERMS } from '../linear/design';
import { type BoostRules, SCORING_WORK } from '../trees/boost';
import type { RandomisedRules } from '../trees/randomised';
import { BOOSTING, LARGE, LOW_NOISE, MANY_CLASSES, RANDOMISED, SIZES, THINKING, WORK } from '../tuned';
import type { LearnerSettings, Subsample } from './options';

/** How a train set will be learned: its folds, its candidates and their rules. */
export interface TrainingPlan {
  /** The rows are divided into this many parts; each fold holds one out. */
  parts: number;
  folds: number;
  /** Rules of each boosted candidate; stacking weighs them by their out-of-fold scores. */
  boosts: BoostRules[];
  /** A further boosted candidate for targets with little noise; undefined: none. */
  lowNoise: LowNoise | undefined;
  /** Extremely randomised trees; undefined: none. */
  randomised: PlannedTrees | undefined;
  /** Whether a linear model is a candidate too. */
  linear: boolean;
  /**
   * The boosted candidate that begins with what the linear model leaves: the sum is smoother, and extrapolates as that
   * does. Undefined: none.
   */
  lineFirst: number | undefined;
  /** What the folds learn from, used cyclically; empty: all rows but those held out. */
  subsample: Subsample[];
  /** Upper limit of the rows that a fold learns from, and that its candidates beside the boosted ones do. */
  maxRows: number;
  otherRows: number;
  workBudget: number;
  /** How the work budget changed the plan. */
  reasons: string[];
}

interface PlanInput {
  rows: number;
  specs: ColumnSpec[];
  task: 'classification' | 'regression';
  classes: number;
  settings: LearnerSettings;
  /** Number of groups or blocks, where parts may not divide them. */
  maxParts: number;
}

/** Bins per column. Fewer on wide short tables, where searching 254 bins would cost more than summing the rows. */
export function binsFor(rows: number, features: number): number {
  return features > 200 && rows < 20_000 ? Math.max(16, Math.min(64, Math.floor(rows / 20))) : 254;
}

export function makePlan(input: PlanInput): TrainingPlan {
  const { rows, task, classes, settings } = input;
  const width = input.specs.length;
  const small = rows < SIZES.small;
  const byDefault = !small || width > 500 || classes > MANY_CLASSES ? (rows < SIZES.medium ? 5 : 3) : 10;
  const listed = settings.subsample.length > 1 ? Math.min(10, settings.subsample.length) : undefined;
  const mostParts = Math.max(1, Math.min(rows, input.maxParts));
  const ordinary = Math.min(mostParts, settings.estimators ?? listed ?? byDefault);
  const trivial = rows < 4 || (task === 'classification' && classes < 2);
  const boosts = candidates(input, trivial);
  const { maxRows, work, reasons } = fitBudget(boosts, input, (settings.workBudget ?? WORK.usual) / ordinary);
  const folds = ordinary + addedFolds(settings, ordinary, mostParts - ordinary, work, reasons);
  const otherRows = LARGE.rows * Math.min(1, Math.sqrt(LARGE.rows / rows));
  const isTooLarge = otherRows < LARGE.share * rows || (rows > LARGE.rows && rows * width > LARGE.cells);
  const hasOthers = !trivial && !isTooLarge;
  const linear = hasOthers && width <= MAX_TERMS;
  const hasAll = hasOthers && classes <= MANY_CLASSES;
  return {
    parts: Math.min(mostParts, Math.max(folds, 5)),
    folds,
    boosts,
    lowNoise: hasAll ? lowNoise(boosts[0], input, folds) : undefined,
    randomised: hasAll ? randomisedRules(rows, width, task === 'regression', folds) : undefined,
    linear,
    lineFirst: linear && boosts.length > 1 ? 1 : undefined,
    subsample: settings.subsample,
    maxRows,
    otherRows: Math.min(rows, Math.floor(otherRows)),
    workBudget: ((settings.workBudget ?? WORK.usual) / ordinary) * folds,
    reasons,
  };
}

/**
 * Folds that thinking adds where their number is not given: each learns from more rows, and there are more members to average. The timeout is one of work, so
 * that the model does not depend on the machine.
 *
 * @param work of the boosted candidates of a fold
 */
function addedFolds(
  { thinking, estimators }: LearnerSettings,
  ordinary: number,
  room: number,
  work: number,
  reasons: string[],
): number {
  const factor = thinking && estimators === undefined ? THINKING[thinking.effort] : 1;
  const wished = Math.min(room, Math.round((factor - 1) * ordinary));
  const seconds = thinking?.timeoutSecs ?? Infinity;
  const added = Math.min(wished, Math.floor((seconds * WORK.perSecond) / Math.max(1, work)));
  if (added < wished) {
    reasons.push(`The timeout is enough for ${added} of the ${wished} estimators that thinking adds.`);
  }
  return added;
}

function candidates({ rows, specs, task, classes }: PlanInput, trivial: boolean): BoostRules[] {
  const many = classes > MANY_CLASSES;
  const small = rows < SIZES.small && !many;
  const width = specs.length;
  const { iterations } = BOOSTING;
  const usualIterations = small ? iterations.small : iterations.others;
  const size = rows < SIZES.medium && !many ? 'medium' : 'large';
  const isLong = !small && !many;
  // An interaction needs its columns in the same tree: of few columns every tree sees all, or nearly all.
  const part = (share: number) =>
    Math.min(1, Math.max(6 / Math.max(1, width), Math.min(share, Math.max(0.05, 120 / width))));
  const { rowSample, columnSample } = BOOSTING;
  const main: BoostRules = {
    learningRate: BOOSTING.learningRate[size],
    maxIterations: trivial ? 0 : isLong ? mostIterations(rows, usualIterations) : usualIterations,
    longAfter: usualIterations,
    patience: BOOSTING.patience[size],
    minImprovement: 0,
    rowSample: rows * (many ? classes : 1) < rowSample.from ? rowSample.usual : rowSample.large,
    columnSample: part(small ? columnSample.small : columnSample.others),
    lambda: 1,
    minHessian: many ? Math.max(2, Math.min(10, rows / (classes * 10))) : chooseMinHessian(rows, task),
    minGain: 1e-9,
    categorySmooth: 5,
    categoryLambda: 5,
    maxLeaves: BOOSTING.leaves[small ? 'small' : size],
    maxDepth: small ? BOOSTING.depth.small : BOOSTING.depth.others,
    nodeColumns: 1,
    sketch: many ? 5 : 0,
    workBudget: 0,
  };
  const shallow: BoostRules = { ...main, maxLeaves: 5, maxDepth: 4, columnSample: part(0.5) };
  const middle: BoostRules = { ...main, maxLeaves: 7, maxDepth: 5, columnSample: part(0.6) };
  /*
   * Shallow trees begin with the line. Without them numbers lose more than 3 % on ten of 72 small tables (meats 11 %),
   * without the first ones on three (docs/benchmarks/many-tables.md). On classes they gain nothing, and cost a tree per class.
   */
  return !small ? [main] : task === 'regression' ? [main, shallow] : [middle];
}

/** Of the first candidate, where its loss goes on falling. */
function mostIterations(rows: number, usual: number): number {
  return Math.max(usual, Math.floor(BOOSTING.iterations.most * Math.min(1, LARGE.rows / rows)));
}

/** Minimum hessian of a leaf: rows for numbers; for classes a unit is at least 4 rows. */
function chooseMinHessian(rows: number, task: PlanInput['task']): number {
  if (task === 'classification') {
    return rows < SIZES.small ? 1 : 3;
  }
  return Math.max(2, Math.min(20, Math.floor(rows / 60)));
}

/**
 * Reduces rows and columns per tree until every fold can afford its iterations, and records why.
 *
 * @param budget of a fold
 * @returns the work of a fold's iterations
 */
function fitBudget(
  boosts: BoostRules[],
  { rows, specs, classes, task, settings }: PlanInput,
  budget: number,
): Pick<TrainingPlan, 'maxRows' | 'reasons'> & { work: number } {
  const outputs = task === 'classification' && classes > 2 ? classes : 1;
  const reasons: string[] = [];
  let maxRows = rows;
  if (rows * outputs > WORK.scores) {
    maxRows = Math.floor(WORK.scores / outputs);
    reasons.push(`Each estimator learns from at most ${maxRows} rows: there are many rows and classes.`);
  }
  const learned = Math.min(maxRows, largestSubsample(settings.subsample, rows));
  const bins = specs.reduce((sum, spec) => sum + spec.bins, 0) / Math.max(1, specs.length);
  const costOf = (rules: BoostRules) =>
    (rules.sketch || outputs) *
    WORK.iterations *
    specs.length *
    rules.columnSample *
    (learned * rules.rowSample * Math.min(3, Math.sqrt(rules.maxLeaves)) + bins * rules.maxLeaves * 3);
  let cut = 1;
  for (const rules of boosts) {
    rules.workBudget = budget / boosts.length;
    while (costOf(rules) > rules.workBudget && learned * rules.rowSample > 4000) {
      rules.rowSample *= 0.8;
    }
    while (costOf(rules) > rules.workBudget && specs.length * rules.columnSample > 20) {
      rules.columnSample *= 0.8;
    }
    if (rules.sketch) {
      const ofScores = learned * rules.rowSample * outputs * SCORING_WORK;
      raiseLearningRate(rules, costOf(rules) / WORK.iterations + ofScores);
    }
    cut = Math.min(cut, (learned * rules.rowSample) / rows);
  }
  if (cut < 0.4 && budget > 0 && rows > 4000) {
    reasons.push(`Each tree sees ${Math.round(cut * 100)} % of the rows.`);
  }
  return { maxRows, reasons, work: boosts.reduce((sum, rules) => sum + costOf(rules), 0) };
}

/** Raises the learning rate where the budget allows too few iterations. */
function raiseLearningRate(rules: BoostRules, perIteration: number): void {
  const needed = (12 * perIteration) / rules.workBudget;
  rules.learningRate = Math.max(rules.learningRate, Math.min(0.3, needed));
}

/** Number of rows in the largest subsample. */
function largestSubsample(subsample: Subsample[], rows: number): number {
  if (subsample.length === 0) {
    return rows;
  }
  return Math.max(...subsample.map((one) => (typeof one === 'number' ? sampleSize(one, rows) : one.length)));
}

/** A number of rows (≥ 1) or a fraction of `rows` (< 1), as a number of rows. */
export function sampleSize(wished: number, rows: number): number {
  return wished < 1 ? Math.max(1, Math.round(wished * rows)) : Math.floor(wished);
}

/**
 * More trees, with leaves down to a few certain rows. On noisy targets they only cost time, as much as the usual ones, so a fold
 * grows them where the first candidate explains at least `minExplained` of the trivial held-out loss.
 */
interface LowNoise {
  rules: BoostRules;
  minExplained: number;
}

/** @param main the rules of the first candidate */
function lowNoise(
  main: BoostRules,
  { rows, task }: { rows: number; task: 'classification' | 'regression' },
  folds: number,
): LowNoise {
  const rules: BoostRules = {
    ...main,
    learningRate: LOW_NOISE.learningRate,
    maxIterations: LOW_NOISE.iterations,
    longAfter: LOW_NOISE.iterations,
    patience: LOW_NOISE.patience,
    rowSample: LOW_NOISE.rowSample,
    workBudget: LOW_NOISE.work / folds,
  };
  if (task === 'classification') {
    return {
      rules: { ...rules, ...LOW_NOISE.classes, columnSample: 1 },
      minExplained: LOW_NOISE.explained.classes,
    };
  }
  const { numbers } = LOW_NOISE;
  const own = {
    // Errors of formulas and of rows in groups go on falling by next to nothing for hundreds of trees.
    minImprovement: 0,
    columnSample: Math.max(main.columnSample, numbers.columnSample),
    lambda: numbers.lambda,
    minHessian: numbers.minHessian,
  };
  const { few, many } = LOW_NOISE.ofNumbers;
  const size = rows < SIZES.small ? few : many;
  const { explained } = LOW_NOISE;
  const minExplained = rows > LARGE.rows ? explained.ofLarge : explained.numbers;
  return { rules: { ...rules, ...own, ...size }, minExplained };
}

/** The rules, and how many times the trees of a fold's model it grows to score the rows held out: a power of 2. */
export interface PlannedTrees extends RandomisedRules {
  scored: number;
}

/**
 * Nearly whole trees: it is their mean that smooths. Fewer and smaller ones of many rows.
 *
 * @param width binned columns
 * @param single whether a leaf may have a single row, however many there are
 */
export function randomisedRules(
  rows: number,
  width: number,
  regression: boolean,
  folds: number,
  single = false,
): PlannedTrees {
  const { manyRows, single: ofSingle } = RANDOMISED;
  const minLeaf = single || rows <= manyRows ? 1 : rows < 8000 ? 3 : 5;
  const trees = Math.min(
    rows < SIZES.small ? RANDOMISED.trees.small : RANDOMISED.trees.others,
    (RANDOMISED.nodes * minLeaf * 0.7) / rows,
  );
  const half = Math.min(24, Math.ceil(width / 2));
  const isDense = single && rows > manyRows;
  const fewest = isDense && folds < 5 ? ofSingle.fewest : 10;
  return {
    trees: Math.max(fewest, Math.ceil(trees / Math.max(5, folds))),
    scored: !regression && rows < SIZES.small ? RANDOMISED.scored : 1,
    minLeaf,
    nodeColumns: regression
      ? Math.min(width, Math.max(6, isDense ? ofSingle.columns : half, Math.ceil(width / 4)))
      : Math.max(Math.min(width, 4), Math.ceil(Math.sqrt(width))),
  };
}
