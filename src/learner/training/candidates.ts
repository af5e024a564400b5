import type { EncodedTable } from '../features/encode';
import { fitClasses } from '../gaussian/classes';
import { fitProcess, type ProcessRules } from '../gaussian/process';
import type { LinearTables } from '../linear/linear';
import { indices } from '../math/order';
import { Random } from '../math/random';
import { type Part, partScores } from '../model/model';
import type { Boosted } from '../trees/boost';
import { firstTrees } from '../trees/trees';
import { type FoldResult, foldRows } from './fold';
import { type PreparedFit, STREAM } from './prepare';

/** One kind of model, as every fold of a fit learned it. Stacking weighs candidates by their out-of-fold scores. */
export interface LearnedCandidate {
  name: 'boosted' | 'low noise' | 'randomised' | 'linear' | 'process';
  /** Folds × parts. */
  parts: Part[][];
  /** What each fold boosted, where it consists of boosted trees. */
  boosted?: Boosted[];
  /** Histogram updates of all folds. */
  work: number;
}

/** The candidates that every fold completed. A Gaussian process joins them later: all folds share its kernel. */
export function candidatesOf({ task, plan }: PreparedFit, folds: FoldResult[]): LearnedCandidate[] {
  const found: LearnedCandidate[] = [];
  plan.boosts.forEach((_, run) => {
    const boosted = folds.map((fold) => fold.boosted[run]);
    const parts = cutTogether(boosted).map((trees, m) => {
      const { line } = folds[m];
      return line && run === plan.lineFirst ? [linearPart(line), trees] : [trees];
    });
    found.push({ name: 'boosted', parts, boosted, work: workOf(boosted) });
  });
  const lowNoise = ofAll(folds, (fold) => fold.lowNoise);
  if (lowNoise) {
    const parts = cutTogether(lowNoise).map((trees) => [trees]);
    found.push({ name: 'low noise', parts, boosted: lowNoise, work: workOf(lowNoise) });
  }
  const randomised = ofAll(folds, (fold) => fold.randomised);
  if (randomised) {
    const kind = task === 'classification' ? 'votes' : 'trees';
    const parts = randomised.map(({ base, trees }): Part[] => [{ kind, weight: 1, base, trees }]);
    found.push({ name: 'randomised', parts, work: workOf(randomised) });
  }
  const linear = ofAll(folds, (fold) => fold.linear);
  if (linear) {
    const best = commonBest(linear.map(({ curve }) => curve));
    const parts = linear.map((one) => [linearPart(one.tables[best])]);
    found.push({ name: 'linear', parts, work: workOf(linear) });
  }
  return found;
}

function workOf(learned: { work: number }[]): number {
  return learned.reduce((sum, { work }) => sum + work, 0);
}

/** What each fold has of something, undefined unless all of them have it. */
function ofAll<T>(folds: FoldResult[], of: (fold: FoldResult) => T | undefined): T[] | undefined {
  const found = folds.map(of).filter((one) => one !== undefined);
  return found.length === folds.length ? found : undefined;
}

/** Per fold, the trees of a boosted candidate, cut after the iteration that is best over all folds. */
function cutTogether(runs: Boosted[]): Part[] {
  const iterations = commonBest(runs.map(({ curve }) => curve));
  return runs.map(({ base, trees, iterations: own }) => {
    const kept = firstTrees(trees, Math.min(iterations, own) * (base.length / trees.width));
    return { kind: 'trees', weight: 1, base, trees: kept };
  });
}

function linearPart(tables: LinearTables): Part {
  return { kind: 'linear', weight: 1, base: tables.base, tables };
}

/**
 * The number of iterations (or the penalty) with the lowest mean held-out loss over all folds. Each fold's own best
 * would overfit its few held-out rows. A fold that ended early keeps its last loss.
 */
function commonBest(curves: Float64Array[]): number {
  const longest = Math.max(...curves.map((curve) => curve.length));
  let best = 0;
  let lowest = Infinity;
  for (let i = 0; i < longest; i++) {
    let sum = 0;
    for (const curve of curves) {
      sum += curve[Math.min(i, curve.length - 1)];
    }
    if (sum < lowest) {
      lowest = sum;
      best = i;
    }
  }
  return best;
}

/** The summed scores of a candidate's parts: rows × width. */
export function sumOfParts(parts: Part[], table: EncodedTable, rows: Int32Array): Float64Array {
  const [sum, ...others] = parts.map((part) => partScores(part, table, rows));
  for (const scores of others) {
    for (let i = 0; i < sum.length; i++) {
      sum[i] += scores[i];
    }
  }
  return sum;
}

const FEWEST_ROWS = 30;
const MAX_ROWS = 5000;
/** Explaining a row costs points × columns². */
const MOST_COLUMNS = 12;
/** Most rows that the length scales are learned from. */
const MOST_SAMPLED = 200;
/**
 * Rows of the last stage, and its steps. Chosen on the six machines of numbers of `npm run bench -- advise`, 300 rows and four
 * train sets each (their means are 4 to 12 % nearer the truth than with length scales of a third of the rows, for 15 % of the
 * time of a fit at most), and on two of them and an extruder with 2,000 rows. Measured again in docs/benchmarks/advise.md and told.md.
 */
const MOST_AT_LAST = { few: 300, many: 500 };
const MANY_ROWS = 1500;
const ITERATIONS_AT_LAST = 12;
/** Most points of the kernel; with few columns there may be more, for the same bytes. */
const MOST_POINTS = 400;
const POINTS_TIMES_COLUMNS = 2400;
/**
 * Most of the variance that the other candidates may leave unexplained. A process of what is mostly noise would lower the
 * loss by 0.1 to 0.3 %, and take half as long as all else (docs/benchmarks/many-tables.md, by leaving the rule out).
 */
const MOST_LEFT = 0.4;

/** The same limit for classes, where a process is worth more: a product is compared with fewer points. */
const MOST_CLASS_COLUMNS = 16;
const MOST_CLASS_POINTS = 120;
/** With fewer rows per column, columns of high gain are partly chosen by chance, and held-out rows do not show it. */
const ROWS_PER_COLUMN = 6;
/** Most rows times outputs: with more classes it takes longer than the rest of the fit and gains little. */
const MOST_SCORES = 3000;

/**
 * With more rows the target of a held-out row says next to nothing of a kernel. With three kernels a fit of 100 to 300 rows takes a
 * fifth to a third longer, and what is told of generated tables is at most 2 % too low; it was 4 to 15 % (docs/benchmarks/told.md).
 */
const MOST_UNSEEN = 300;
const UNSEEN_KERNELS = 3;

/** A Gaussian process in all folds. */
export interface Process {
  parts: Part[][];
  work: number;
  /** The same with kernels that have not seen the target of the rows that a fold holds out; undefined where they know little of it. */
  unseen?: () => Process | undefined;
}

/** Limits on the cost of a Gaussian process. */
function rulesFor(rows: number, columns: number): ProcessRules {
  // Small fits are quick: there it would take longer than everything else.
  const sample = Math.max(100, Math.min(MOST_SAMPLED, Math.round(rows / 3)));
  return {
    stages: [
      { sample: 80, iterations: 12 },
      { sample, iterations: 6, triesShorter: true },
      {
        sample: Math.min(MOST_AT_LAST[rows < MANY_ROWS ? 'few' : 'many'], rows),
        iterations: ITERATIONS_AT_LAST,
      },
    ],
    points: Math.max(sample, Math.min(MOST_POINTS, Math.round(POINTS_TIMES_COLUMNS / columns))),
  };
}

/**
 * A Gaussian process as a candidate, on the columns that the first boosted candidate gains most from; undefined if it
 * is not worth its time. All folds share its kernel, so that predicting and explaining compare a row with the
 * kernel's points only once. So the kernel has seen the target of the rows that a fold holds out: `unseen` scores them without.
 *
 * @param left for regression, the fraction of the target's variance that the best other candidate leaves
 * @returns folds × parts
 */
export function gaussianOf(
  prepared: PreparedFit,
  folds: FoldResult[],
  left: () => number,
): Process | undefined {
  const { rows, plan, task, classes } = prepared;
  if (!plan.linear || rows < FEWEST_ROWS || rows > MAX_ROWS) {
    return undefined;
  }
  const gains = new Float64Array(prepared.columns.length);
  for (const { boosted } of folds) {
    boosted[0].gains.forEach((gain, column) => (gains[column] += gain));
  }
  const chosen = Array.from(gains.keys())
    .filter((column) => gains[column] > 0)
    .sort((a, b) => gains[b] - gains[a] || a - b)
    .slice(0, task === 'regression' ? MOST_COLUMNS : MOST_CLASS_COLUMNS);
  if (task === 'regression') {
    return left() <= MOST_LEFT ? forNumbers(prepared, folds, chosen) : undefined;
  }
  const outputs = classes.length === 2 ? 1 : classes.length;
  const isChosenByChance = gains.length > MOST_CLASS_COLUMNS && rows < ROWS_PER_COLUMN * gains.length;
  return isChosenByChance || outputs * rows > MOST_SCORES
    ? undefined
    : forClasses(prepared, folds, chosen, gains);
}

function forNumbers(prepared: PreparedFit, folds: FoldResult[], chosen: number[]): Process | undefined {
  const rows = folds.map(({ fold }) => foldRows(prepared, fold).rows);
  const found = processOf(prepared, chosen, rows);
  return found && { ...found, unseen: () => unseenOf(prepared, chosen, rows) };
}

/** @param folds the rows that each learns from */
function processOf(
  prepared: PreparedFit,
  chosen: number[],
  folds: Int32Array[],
  ofScales?: Int32Array,
): Process | undefined {
  const learned = fitProcess({
    ...inputOf(prepared, chosen),
    centers: prepared.centers,
    target: prepared.values,
    folds,
    ofScales,
    rules: rulesFor(prepared.rows, chosen.length),
  });
  return (
    learned && {
      parts: learned.folds.map(({ gaussian, line }): Part[] => [
        { kind: 'gaussian', weight: 1, base: new Float64Array(1), gaussian },
        { kind: 'linear', weight: 1, base: line.base, tables: line },
      ]),
      work: learned.work,
    }
  );
}

/** Learns a kernel for every third fold, from the rows that all of these learn from. */
function unseenOf(prepared: PreparedFit, chosen: number[], folds: Int32Array[]): Process | undefined {
  if (prepared.rows > MOST_UNSEEN) {
    return undefined;
  }
  const parts: Part[][] = [];
  let work = 0;
  for (let kernel = 0; kernel < Math.min(UNSEEN_KERNELS, folds.length); kernel++) {
    const own = indices(folds.length).filter((fold) => fold % UNSEEN_KERNELS === kernel);
    const seen = new Uint8Array(prepared.rows);
    own.forEach((fold) => folds[fold].forEach((row) => seen[row]++));
    const common = indices(prepared.rows).filter((row) => seen[row] === own.length);
    const ofOwn = Array.from(own, (fold) => folds[fold]);
    const found = common.length >= FEWEST_ROWS ? processOf(prepared, chosen, ofOwn, common) : undefined;
    if (found === undefined) {
      return undefined;
    }
    own.forEach((fold, at) => (parts[fold] = found.parts[at]));
    work += found.work;
  }
  return { parts, work };
}

function forClasses(
  prepared: PreparedFit,
  folds: FoldResult[],
  chosen: number[],
  gains: Float64Array,
): Process | undefined {
  const learned = fitClasses({
    ...inputOf(prepared, chosen),
    gains,
    codes: prepared.codes,
    classes: prepared.classes.length,
    folds: folds.map(({ fold }) => foldRows(prepared, fold)),
    points: MOST_CLASS_POINTS,
  });
  return (
    learned && {
      parts: learned.folds.map(({ gaussian, base }): Part[] => [
        { kind: 'gaussian', weight: 1, base, gaussian },
      ]),
      work: learned.work,
    }
  );
}

function inputOf({ columns, numbers, specs, settings }: PreparedFit, chosen: number[]) {
  return { columns, numbers, specs, chosen, random: new Random(settings.seed, STREAM.gaussian) };
}
