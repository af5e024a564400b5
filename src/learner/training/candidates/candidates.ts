import type { EncodedTable } from '../../features/encode';
import type { LinearTables } from '../../linear/linear';
import { type Part, partScores } from '../../model/members';
import type { Boosted } from '../../trees/boosting/boost';
import { firstTrees } from '../../trees/trees';
import type { PreparedFit } from '../preparation/prepare';
import { completeRuns, type FoldResult } from './fold';

/** Candidates × folds × parts. */
export function candidatesOf({ task, plan }: PreparedFit, folds: FoldResult[]): Part[][][] {
  const candidates = completeRuns(folds).map((run) => {
    const trees = cutTogether(folds.map((fold) => fold.boosted[run]!));
    return folds.map(({ line }, m) =>
      line && run === plan.lineFirst ? [linearPart(line), trees[m]] : [trees[m]],
    );
  });
  const randomised = folds.map((fold) => fold.randomised).filter((one) => one !== undefined);
  if (randomised.length === folds.length) {
    const kind = task === 'classification' ? 'votes' : 'trees';
    candidates.push(randomised.map(({ base, trees }) => [{ kind, weight: 1, base, trees }]));
  }
  const linear = folds.map((fold) => fold.linear).filter((one) => one !== undefined);
  if (linear.length < folds.length) {
    return candidates;
  }
  const best = commonBest(linear.map(({ curve }) => curve));
  candidates.push(linear.map((one) => [linearPart(one.tables[best])]));
  return candidates;
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
