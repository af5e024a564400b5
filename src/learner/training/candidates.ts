import { fitClasses } from '../gaussian/classes';
import { fitProcess, type ProcessInput, type ProcessRules } from '../gaussian/process';
import type { LinearTables } from '../linear/linear';
import { indices } from '../math/order';
import { Random } from '../math/random';
import type { Part } from '../model/model';
import type { Boosted } from '../trees/boost';
import { firstTrees } from '../trees/trees';
import { PROCESS } from '../tuned';
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

/**
 * The candidates that every fold completed. A Gaussian process joins them later: all folds share its kernel.
 *
 * @param apart a fold whose held-out rows have no say in which iterations and penalties are best: to score them
 */
export function gatherCandidates(
  { task, plan }: PreparedFit,
  folds: FoldResult[],
  apart?: number,
): LearnedCandidate[] {
  const found: LearnedCandidate[] = [];
  const linear = ofAll(folds, (fold) => fold.linear);
  const penalty = linear && commonBest(linear, apart);
  plan.boosts.forEach((_, run) => {
    const boosted = folds.map((fold) => fold.boosted[run]);
    const parts = cutTogether(boosted, apart).map((trees, m) => {
      // The line that trees began with is the best one for the rows that their own fold holds out.
      const line = m === apart && linear ? linear[m].tables[penalty!] : folds[m].line;
      return line && run === plan.lineFirst ? [linearPart(line), trees] : [trees];
    });
    found.push({ name: 'boosted', parts, boosted, work: sumWork(boosted) });
  });
  const lowNoise = ofAll(folds, (fold) => fold.lowNoise);
  if (lowNoise) {
    const parts = cutTogether(lowNoise, apart).map((trees) => [trees]);
    found.push({ name: 'low noise', parts, boosted: lowNoise, work: sumWork(lowNoise) });
  }
  const randomised = ofAll(folds, (fold) => fold.randomised);
  if (randomised) {
    const kind = task === 'classification' ? 'votes' : 'trees';
    const parts = randomised.map(({ base, trees }): Part[] => [{ kind, weight: 1, base, trees }]);
    found.push({ name: 'randomised', parts, work: sumWork(randomised) });
  }
  if (linear) {
    const parts = linear.map((one) => [linearPart(one.tables[penalty!])]);
    found.push({ name: 'linear', parts, work: sumWork(linear) });
  }
  return found;
}

function sumWork(learned: { work: number }[]): number {
  return learned.reduce((sum, { work }) => sum + work, 0);
}

/** What each fold has of something, undefined unless all of them have it. */
function ofAll<T>(folds: FoldResult[], of: (fold: FoldResult) => T | undefined): T[] | undefined {
  const found = folds.map(of).filter((one) => one !== undefined);
  return found.length === folds.length ? found : undefined;
}

/** Per fold, the trees of a boosted candidate, cut after the iteration that is best over all folds (but `apart`). */
function cutTogether(runs: Boosted[], apart: number | undefined): Part[] {
  const iterations = commonBest(runs, apart);
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
function commonBest(learned: { curve: Float64Array }[], apart: number | undefined): number {
  const curves = learned.map(({ curve }) => curve).filter((_, fold) => fold !== apart);
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
  const sample = Math.max(100, Math.min(PROCESS.numbers.sampled, Math.round(rows / 3)));
  return {
    stages: [
      { sample: 80, iterations: 12 },
      { sample, iterations: 6, triesShorter: true },
      {
        sample: Math.min(PROCESS.numbers.atLast[rows < PROCESS.numbers.manyRows ? 'few' : 'many'], rows),
        iterations: PROCESS.numbers.atLast.iterations,
      },
    ],
    points: Math.max(
      sample,
      Math.min(PROCESS.numbers.points, Math.round(PROCESS.numbers.pointsTimesColumns / columns)),
    ),
    ridges: rows < PROCESS.numbers.ridges.rows ? 0 : PROCESS.numbers.ridges.most,
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
export function fitGaussian(
  prepared: PreparedFit,
  folds: FoldResult[],
  left: () => number,
): Process | undefined {
  const { rows, plan, task, classes } = prepared;
  if (!plan.linear || rows < PROCESS.rows.least || rows > PROCESS.rows.most) {
    return undefined;
  }
  const gains = new Float64Array(prepared.columns.length);
  for (const { boosted } of folds) {
    boosted[0].gains.forEach((gain, column) => (gains[column] += gain));
  }
  const chosen = Array.from(gains.keys())
    .filter((column) => gains[column] > 0)
    .sort((a, b) => gains[b] - gains[a] || a - b)
    .slice(0, task === 'regression' ? PROCESS.numbers.columns : PROCESS.classes.columns);
  if (task === 'regression') {
    return left() <= PROCESS.numbers.left ? forNumbers(prepared, folds, chosen) : undefined;
  }
  const outputs = classes.length === 2 ? 1 : classes.length;
  const isChosenByChance =
    gains.length > PROCESS.classes.columns && rows < PROCESS.classes.rowsPerColumn * gains.length;
  return isChosenByChance || outputs * rows > PROCESS.classes.scores
    ? undefined
    : forClasses(prepared, folds, chosen, gains);
}

function forNumbers(prepared: PreparedFit, folds: FoldResult[], chosen: number[]): Process | undefined {
  const rows = folds.map(({ fold }) => foldRows(prepared, fold).rows);
  const found = learnProcess(prepared, chosen, rows);
  return found && { ...found, unseen: () => learnUnseen(prepared, chosen, rows, found.at) };
}

/** @param folds the rows that each learns from */
function learnProcess(
  prepared: PreparedFit,
  chosen: number[],
  folds: Int32Array[],
  scalesOf?: ProcessInput['scalesOf'],
): (Process & { at: Float64Array }) | undefined {
  const { stages, ...sizes } = rulesFor(prepared.rows, chosen.length);
  const learned = fitProcess({
    ...selectColumns(prepared, chosen),
    centers: prepared.centers,
    target: prepared.values,
    folds,
    scalesOf,
    // The first stages find where to descend.
    rules: { stages: scalesOf === undefined ? stages : stages.slice(-1), ...sizes },
  });
  return (
    learned && {
      parts: learned.folds.map(({ gaussian, line, ridges }): Part[] => [
        { kind: 'gaussian', weight: 1, base: new Float64Array(1), gaussian },
        { kind: 'linear', weight: 1, base: line.base, tables: line },
        ...ridges.map((ridge): Part => ({ kind: 'ridge', weight: 1, base: new Float64Array(1), ridge })),
      ]),
      at: learned.at,
      work: learned.work,
    }
  );
}

/**
 * Learns a kernel for every third fold, from the rows that all of these learn from. Each descends from where that of all rows
 * ended: from elsewhere it may end in another minimum, and would tell of another kind of model.
 */
function learnUnseen(
  prepared: PreparedFit,
  chosen: number[],
  folds: Int32Array[],
  start: Float64Array,
): Process | undefined {
  if (prepared.rows > PROCESS.unseen.rows) {
    return undefined;
  }
  const parts: Part[][] = [];
  let work = 0;
  for (let kernel = 0; kernel < Math.min(PROCESS.unseen.kernels, folds.length); kernel++) {
    const own = indices(folds.length).filter((fold) => fold % PROCESS.unseen.kernels === kernel);
    const seen = new Uint8Array(prepared.rows);
    own.forEach((fold) => folds[fold].forEach((row) => seen[row]++));
    const common = indices(prepared.rows).filter((row) => seen[row] === own.length);
    const ofOwn = Array.from(own, (fold) => folds[fold]);
    const found =
      common.length >= PROCESS.rows.least
        ? learnProcess(prepared, chosen, ofOwn, { rows: common, start })
        : undefined;
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
    ...selectColumns(prepared, chosen),
    gains,
    codes: prepared.codes,
    classes: prepared.classes.length,
    folds: folds.map(({ fold }) => foldRows(prepared, fold)),
    points: PROCESS.classes.points,
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

function selectColumns({ columns, numbers, specs, settings }: PreparedFit, chosen: number[]) {
  return { columns, numbers, specs, chosen, random: new Random(settings.seed, STREAM.gaussian) };
}
