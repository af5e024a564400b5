import type { EncodedTable } from '../../features/encode';
import type { LinearTables } from '../../linear/linear';
import { type Part, partScores } from '../../model/members';
import type { Boosted } from '../../trees/boosting/boost';
import { firstTrees } from '../../trees/trees';
import type { PreparedFit } from '../preparation/prepare';
import type { FoldResult } from './fold';

/** One kind of model, as every fold of a fit learned it. Stacking weighs candidates by their out-of-fold scores. */
export interface LearnedCandidate {
  name: 'boosted' | 'low noise' | 'randomised' | 'linear' | 'process';
  /** Folds × parts. */
  parts: Part[][];
  /** What each fold boosted, where it consists of boosted trees. */
  boosted?: Boosted[];
  /** Histogram updates of all folds. */
  work: number;
  /** Whether only thinking adds it. */
  isExtra?: boolean;
}

/** The candidates that every fold completed. A Gaussian process joins them later: all folds share its kernel. */
export function candidatesOf({ task, plan }: PreparedFit, folds: FoldResult[]): LearnedCandidate[] {
  const found: LearnedCandidate[] = [];
  plan.boosts.forEach((_, run) => {
    const boosted = ofAll(folds, (fold) => fold.boosted[run]);
    if (boosted) {
      const parts = cutTogether(boosted).map((trees, m) => {
        const { line } = folds[m];
        return line && run === plan.lineFirst ? [linearPart(line), trees] : [trees];
      });
      found.push({ name: 'boosted', parts, boosted, work: workOf(boosted), isExtra: run >= plan.usual });
    }
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
