import type { ColumnSpec } from '../features/encode';
import { MAX_TERMS } from '../linear/design';
import { type BoostRules, SCORING_WORK } from '../trees/boost';
import type { RandomisedRules } from '../trees/randomised';
import type { LearnerSettings, Subsample } from './options';
import { BOOSTING, LARGE, LOW_NOISE, MANY_CLASSES, RANDOMISED, SIZES, WORK } from './tuned';

/** How a train set will be learned: its folds, its candidates and their rules. */
export interface TrainingPlan {
  /** The rows are divided into this many parts; each fold holds one out. */
  parts: number;
  folds: number;
  /** Rules of each boosted candidate; stacking weighs them by their out-of-fold scores. */
  boosts: BoostRules[];
  /** How many of them, from the first, are used without thinking. */
  usual: number;
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
  /** Milliseconds per fold after which candidates that only thinking adds are dropped. */
  foldMs: number | undefined;
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
  const { usual: usualBudget, extra: extraBudget } = budgetsOf(settings);
  const listed = settings.subsample.length > 1 ? Math.min(10, settings.subsample.length) : undefined;
  // More folds repeat the work of the default candidates: only where thinking may take as much as they do.
  const ownFolds = extraBudget >= usualBudget ? Math.max(5, byDefault) : byDefault;
  const wished = settings.estimators ?? listed ?? ownFolds;
  const parts = Math.max(1, Math.min(rows, input.maxParts, Math.max(wished, 5)));
  const folds = Math.min(wished, parts);
  const trivial = rows < 4 || (task === 'classification' && classes < 2);
  const otherRows = LARGE.rows * Math.min(1, Math.sqrt(LARGE.rows / rows));
  const isTooLarge = otherRows < LARGE.share * rows || (rows > LARGE.rows && rows * width > LARGE.cells);
  const hasOthers = !trivial && !isTooLarge;
  const plan: TrainingPlan = {
    parts,
    folds,
    boosts: candidates(input, trivial),
    usual: small && task === 'regression' ? 2 : 1,
    lowNoise: undefined,
    randomised: undefined,
    linear: hasOthers && width <= MAX_TERMS,
    lineFirst: undefined,
    subsample: settings.subsample,
    maxRows: rows,
    otherRows: Math.min(rows, Math.floor(otherRows)),
    foldMs: undefined,
    workBudget: 0,
    reasons: [],
  };
  plan.lineFirst = plan.linear && plan.usual > 1 ? 1 : undefined;
  const { thinking } = settings;
  if (thinking?.timeoutSecs !== undefined) {
    plan.foldMs = (thinking.timeoutSecs * 800) / folds;
  }
  // However many folds thinking adds, each default candidate keeps the budget it would have without.
  const usualFolds = Math.max(1, Math.min(folds, settings.estimators ?? listed ?? byDefault));
  fitBudget(plan, input, (usualBudget / usualFolds) * folds, extraBudget);
  if (hasOthers && classes <= MANY_CLASSES) {
    plan.lowNoise = lowNoise(plan.boosts[0], input, folds);
    plan.randomised = randomisedRules(rows, width, task === 'regression', folds);
  }
  return plan;
}

/** Work budgets of the default candidates, and of those that thinking adds: the timeout limits only these. */
function budgetsOf({ workBudget, thinking }: LearnerSettings): { usual: number; extra: number } {
  const total = workBudget ?? (thinking ? WORK.thinking[thinking.effort] : WORK.usual);
  const usual = thinking ? Math.min(total, WORK.usual) : total;
  return { usual, extra: Math.min(total - usual, (thinking?.timeoutSecs ?? Infinity) * WORK.perSecond) };
}

function candidates({ rows, specs, task, classes, settings }: PlanInput, trivial: boolean): BoostRules[] {
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
    minHessian: many ? Math.max(2, Math.min(10, rows / (classes * 10))) : minHessianOf(rows, task),
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
  const list = !small ? [main] : task === 'regression' ? [main, shallow] : [middle];
  if (!settings.thinking) {
    return list;
  }
  const patience = main.patience * 2;
  const slow = {
    ...main,
    learningRate: main.learningRate / 2,
    maxIterations: trivial ? 0 : usualIterations * 2,
    longAfter: usualIterations * 2,
    patience,
  };
  list.push({ ...slow, columnSample: part(0.35), maxLeaves: 16, categorySmooth: 20, categoryLambda: 20 });
  list.push({ ...slow, maxLeaves: 3, maxDepth: 2, rowSample: 0.7, columnSample: part(0.7) });
  list.push({ ...main, maxLeaves: small ? 24 : 63, nodeColumns: 0.5, lambda: 5 });
  if (settings.thinking.effort === 'medium') {
    return list;
  }
  list.push({ ...slow, maxLeaves: 8, rowSample: 0.5, columnSample: part(0.5), lambda: 3 });
  list.push({
    ...slow,
    maxLeaves: 48,
    maxDepth: 16,
    nodeColumns: 0.3,
    rowSample: 0.6,
    minHessian: main.minHessian * 2,
  });
  list.push({ ...slow, maxLeaves: 12, columnSample: 1, minHessian: main.minHessian / 2, lambda: 0.3 });
  list.push({ ...slow, maxLeaves: 6, columnSample: part(0.25), categorySmooth: 50, categoryLambda: 10 });
  return list;
}

/** Of the first candidate, where its loss goes on falling. */
function mostIterations(rows: number, usual: number): number {
  return Math.max(usual, Math.floor(BOOSTING.iterations.most * Math.min(1, LARGE.rows / rows)));
}

/** Minimum hessian of a leaf: rows for numbers; for classes a unit is at least 4 rows. */
function minHessianOf(rows: number, task: PlanInput['task']): number {
  if (task === 'classification') {
    return rows < SIZES.small ? 1 : 3;
  }
  return Math.max(2, Math.min(20, Math.floor(rows / 60)));
}

/**
 * Reduces rows and columns per tree until every fold can afford its iterations, and records why. Candidates of thinking
 * that still cannot afford them are dropped: half grown they would be worth nothing.
 */
function fitBudget(plan: TrainingPlan, input: PlanInput, usualBudget: number, extraBudget: number): void {
  const { rows, specs, classes, task, settings } = input;
  const outputs = task === 'classification' && classes > 2 ? classes : 1;
  if (rows * outputs > WORK.scores) {
    const most = Math.floor(WORK.scores / outputs);
    plan.maxRows = most;
    plan.reasons.push(`Each estimator learns from at most ${most} rows: there are many rows and classes.`);
  }
  const learned = Math.min(plan.maxRows, largestSubsample(plan.subsample, rows));
  const bins = specs.reduce((sum, spec) => sum + spec.bins, 0) / Math.max(1, specs.length);
  let cut = 1;
  /** Adapts the rules to a budget; true where it affords the iterations. */
  const fit = (rules: BoostRules, budget: number): boolean => {
    rules.workBudget = budget;
    const trees = (rules.sketch || outputs) * WORK.iterations;
    const cost = () =>
      trees *
      specs.length *
      rules.columnSample *
      (learned * rules.rowSample * Math.min(3, Math.sqrt(rules.maxLeaves)) + bins * rules.maxLeaves * 3);
    while (cost() > rules.workBudget && learned * rules.rowSample > 4000) {
      rules.rowSample *= 0.8;
    }
    while (cost() > rules.workBudget && specs.length * rules.columnSample > 20) {
      rules.columnSample *= 0.8;
    }
    if (rules.sketch) {
      return raiseLearningRate(
        rules,
        cost() / WORK.iterations + learned * rules.rowSample * outputs * SCORING_WORK,
      );
    }
    return cost() <= rules.workBudget;
  };
  const usual = plan.boosts.slice(0, plan.usual);
  const extra = plan.boosts.slice(plan.usual);
  for (const rules of usual) {
    fit(rules, usualBudget / (usual.length * plan.folds));
  }
  let kept: BoostRules[] = [];
  for (let count = extra.length; count > 0; count--) {
    const budget = extraBudget / (count * plan.folds);
    kept = extra.map((rules) => ({ ...rules })).filter((rules) => fit(rules, budget));
    if (kept.length >= count) {
      break;
    }
  }
  plan.boosts = [...usual, ...kept];
  plan.workBudget = usualBudget + (kept.length > 0 ? extraBudget : 0);
  if (kept.length < extra.length) {
    const timed = settings.thinking?.timeoutSecs !== undefined;
    plan.reasons.push(
      `The ${timed ? 'timeout' : 'work budget'} is enough for ${kept.length} of the ${extra.length} candidates that thinking adds.`,
    );
  }
  for (const rules of plan.boosts) {
    cut = Math.min(cut, (learned * rules.rowSample) / rows);
  }
  if (cut < 0.4 && plan.workBudget > 0 && rows > 4000) {
    plan.reasons.push(`Each tree sees ${Math.round(cut * 100)} % of the rows.`);
  }
}

/** Raises the learning rate where the budget allows too few iterations; true where that is enough. */
function raiseLearningRate(rules: BoostRules, perIteration: number): boolean {
  const needed = (12 * perIteration) / rules.workBudget;
  rules.learningRate = Math.max(rules.learningRate, Math.min(0.3, needed));
  return needed <= 0.3;
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
