import type { GaussianScores } from '../gaussian/scores';
import type { EnsembleProcess } from '../model/process-apart';
import type { Compared } from './compared';
import { eachOrder, type Orders } from './orders';
import { addProductShares, type GroupFactors, groupFactors } from './products';

/** A Gaussian process whose scores all members share, beside the row and the background. */
export interface SharedProcess {
  gaussian: GaussianScores;
  base: Float64Array;
  factors: GroupFactors;
  /** outputs × groups: its Shapley values, added up over the background's rows that effects are about. */
  effects: Float64Array;
}

/** @param rows those of the background that effects are about, as bits */
export function sharedProcess(
  { gaussian, base }: EnsembleProcess,
  compared: Compared,
  rows: number,
): SharedProcess {
  const factors = groupFactors(gaussian.kernel, compared);
  const effects = new Float64Array(base.length * compared.groups);
  addProductShares(gaussian, factors, { rows, share: 1, groups: compared.groups }, effects);
  return { gaussian, base, factors, effects };
}

/**
 * Adds the change of each score at each step of the orders (of the background's `rows`), and before the first the score.
 *
 * @param changes mixtures × outputs
 */
export function addProductSteps(
  { gaussian, base, factors }: SharedProcess,
  orders: Orders,
  rows: number,
  changes: Float64Array,
): void {
  const outputs = base.length;
  const { groups, points, own, others, rows: backgroundRows } = factors;
  const count = groups.length;
  const { weights } = gaussian;
  const after = new Float64Array(count + 1);
  const scores = new Float64Array((count + 1) * outputs);
  eachOrder(orders, (first, turns, row) => {
    if (((rows >>> row) & 1) === 0) {
      return;
    }
    const turnOf = (g: number) => orders.turns[turns + groups[g]];
    const inTurn = Int32Array.from(groups.keys()).sort((a, b) => turnOf(a) - turnOf(b));
    for (let i = 0; i < scores.length; i++) {
      scores[i] = base[i % outputs];
    }
    for (let point = 0; point < points; point++) {
      const ownAt = point * count;
      const otherAt = (point * backgroundRows + row) * count;
      // Factors of the groups that have not passed yet.
      after[count] = 1;
      for (let i = count - 1; i >= 0; i--) {
        after[i] = after[i + 1] * others[otherAt + inTurn[i]];
      }
      let passed = 1;
      for (let i = 0, to = 0; i <= count; i++) {
        const value = passed * after[i];
        for (let k = 0; k < outputs; k++) {
          scores[to++] += weights[k * points + point] * value;
        }
        passed *= i < count ? own[ownAt + inTurn[i]] : 1;
      }
    }
    for (let k = 0; k < outputs; k++) {
      changes[first * outputs + k] += scores[k];
      for (let i = 1; i <= count; i++) {
        const to = (first + turnOf(inTurn[i - 1])) * outputs + k;
        changes[to] += scores[i * outputs + k] - scores[(i - 1) * outputs + k];
      }
    }
  });
}

/** Points that take as long as a score of a member for each mixture of a row. */
const POINTS_PER_SCORE = 15;

/** What a mixture takes for its scores, in scores of a member. */
export function scoresPerMixture(
  members: number,
  width: number,
  process: EnsembleProcess | undefined,
): number {
  const { points, rates } = process?.gaussian.kernel ?? { points: [], rates: [1] };
  return width * (members + points.length / rates.length / POINTS_PER_SCORE);
}

/** What an order takes for the points of a process in all members, in nodes of trees. */
export function stepsOfPoints(members: number, process: EnsembleProcess | undefined): number {
  return members * (process?.gaussian.kernel.points.length ?? 0);
}
