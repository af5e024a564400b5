import type { GaussianScores } from '../gaussian/scores';
import type { EnsembleProcess } from '../model/process-apart';
import type { Compared } from './compared';
import { eachOrder, type Orders } from './orders';
import { addProductShares, type GroupFactors, groupFactors } from './products';

/** A Gaussian process whose scores all members share, beside the row and the background. */
export interface SharedProcess {
  gaussian: GaussianScores;
  base: Float64Array;
  /** The groups of its kernel, by their numbers. */
  groups: number[];
  /** Rows of the background × points: the kernel there. */
  starts: Float64Array;
  /** Rows of the background × groups × points: what the kernel is multiplied by where the group becomes the row's. */
  ratios: Float64Array;
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
  return { gaussian, base, groups: factors.groups, ...startsAndRatios(factors), effects };
}

function startsAndRatios({
  groups: { length: groups },
  points,
  own,
  others,
  rows,
}: GroupFactors): Pick<SharedProcess, 'starts' | 'ratios'> {
  const starts = new Float64Array(rows * points).fill(1);
  const ratios = new Float64Array(rows * groups * points);
  for (let point = 0, from = 0; point < points; point++) {
    for (let row = 0; row < rows; row++) {
      for (let g = 0; g < groups; g++, from++) {
        starts[row * points + point] *= others[from];
        ratios[(row * groups + g) * points + point] = own[point * groups + g] / others[from];
      }
    }
  }
  return { starts, ratios };
}

/**
 * Adds the change of each score at each step of the orders (of the background's `rows`), and before the first the score.
 *
 * @param changes mixtures × outputs
 */
export function addProductSteps(
  { gaussian: { weights }, base, groups, starts, ratios }: SharedProcess,
  orders: Orders,
  rows: number,
  changes: Float64Array,
): void {
  const outputs = base.length;
  const points = weights.length / outputs;
  const kernel = new Float64Array(points);
  const scores = new Float64Array(outputs);
  const before = new Float64Array(outputs);
  const placeAt = new Int32Array(orders.steps);
  eachOrder(orders, (first, turns, row) => {
    if (((rows >>> row) & 1) === 0) {
      return;
    }
    placeAt.fill(-1);
    groups.forEach((group, place) => (placeAt[orders.turns[turns + group]] = place));
    kernel.set(starts.subarray(row * points, (row + 1) * points));
    weigh(kernel, weights, scores);
    for (let k = 0; k < outputs; k++) {
      changes[first * outputs + k] += base[k] + scores[k];
    }
    for (let step = 1; step < orders.steps; step++) {
      if (placeAt[step] < 0) {
        continue;
      }
      const from = (row * groups.length + placeAt[step]) * points;
      for (let point = 0; point < points; point++) {
        kernel[point] *= ratios[from + point];
      }
      before.set(scores);
      weigh(kernel, weights, scores);
      for (let k = 0; k < outputs; k++) {
        changes[(first + step) * outputs + k] += scores[k] - before[k];
      }
    }
  });
}

/** The scores of a kernel with each point. */
function weigh(kernel: Float64Array, weights: Float64Array, scores: Float64Array): void {
  for (let k = 0, at = 0; k < scores.length; k++) {
    let sum = 0;
    for (let point = 0; point < kernel.length; point++) {
      sum += weights[at++] * kernel[point];
    }
    scores[k] = sum;
  }
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
