import type { GaussianScores } from '../gaussian/scores';
import { bitCount } from '../math/bits';
import type { EnsembleProcess } from '../model/process-apart';
import type { Compared } from './compared';
import { eachOrder, mixturesOf, type Orders } from './orders';
import { addProductShares, type GroupFactors, groupFactors } from './products';

/** What a Gaussian process that all members share says of the mixtures of a row with the background's rows. */
export interface SharedProcess {
  /** For each set of orders, mixtures × outputs: the score before the first step, then its change at each step. */
  changes: Float64Array[];
  /** outputs × groups: its Shapley values, added up over the background's rows that effects are about. */
  effects: Float64Array;
}

/** A kernel along orders. */
interface Followed {
  gaussian: GaussianScores;
  base: Float64Array;
  /** The groups of the kernel, by their numbers. */
  groups: number[];
  /** Rows of the background × points: the kernel there. */
  starts: Float64Array;
  /** Rows of the background × groups × points: what the kernel is multiplied by where the group becomes the row's. */
  ratios: Float64Array;
}

/** Of the quadrature: these effects are a control variate, which may be off by a little. Of 16 smooth columns by 1e-12. */
const ENOUGH_NODES = 4;

/** @param rows those of the background that effects are about, as bits */
export function sharedProcess(
  { gaussian, base }: EnsembleProcess,
  compared: Compared,
  rows: number,
  sets: Orders[],
): SharedProcess {
  const factors = groupFactors(gaussian.kernel, compared);
  const effects = new Float64Array(base.length * compared.groups);
  const about = { rows, share: 1, groups: compared.groups, nodes: ENOUGH_NODES };
  const starts = addProductShares(gaussian, factors, about, effects);
  spreadRest(gaussian, factors, { starts, count: bitCount(rows) }, effects);
  const followed = { gaussian, base, groups: factors.groups, ...startsAndRatios(factors) };
  return { changes: sets.map((orders) => changesAlong(followed, orders, rows)), effects };
}

/** Makes the effects on each output add up, in proportion: by as much as a quadrature of few nodes leaves out. */
function spreadRest(
  { weights }: GaussianScores,
  { groups: list, points, own }: GroupFactors,
  { starts, count }: { starts: Float64Array; count: number },
  effects: Float64Array,
): void {
  const groups = effects.length / starts.length;
  for (let k = 0; k < starts.length; k++) {
    let end = 0;
    for (let point = 0; point < points; point++) {
      let product = weights[k * points + point];
      for (let g = 0; g < list.length; g++) {
        product *= own[point * list.length + g];
      }
      end += product;
    }
    const told = effects.subarray(k * groups, (k + 1) * groups);
    const sum = told.reduce((all, effect) => all + effect, 0);
    const size = told.reduce((all, effect) => all + Math.abs(effect), 0);
    const rest = count * end - starts[k] - sum;
    told.forEach((effect, group) => (told[group] += size > 0 ? (rest * Math.abs(effect)) / size : 0));
  }
}

function startsAndRatios({
  groups: { length: groups },
  points,
  own,
  others,
  rows,
}: GroupFactors): Pick<Followed, 'starts' | 'ratios'> {
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

/** The change of each score at each step of the orders (of the background's `rows`), and before the first the score. */
function changesAlong(
  { gaussian: { weights }, base, groups, starts, ratios }: Followed,
  orders: Orders,
  rows: number,
): Float64Array {
  const outputs = base.length;
  const points = weights.length / outputs;
  const changes = new Float64Array(mixturesOf(orders) * outputs);
  // With one output the kernel is kept times the weights.
  const isWeighted = outputs === 1;
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
      changes[first * outputs + k] = base[k] + scores[k];
    }
    for (let point = 0; isWeighted && point < points; point++) {
      kernel[point] *= weights[point];
    }
    for (let step = 1; step < orders.steps; step++) {
      if (placeAt[step] < 0) {
        continue;
      }
      before.set(scores);
      const sum = multiply(kernel, ratios, (row * groups.length + placeAt[step]) * points);
      if (isWeighted) {
        scores[0] = sum;
      } else {
        weigh(kernel, weights, scores);
      }
      for (let k = 0; k < outputs; k++) {
        changes[(first + step) * outputs + k] = scores[k] - before[k];
      }
    }
  });
  return changes;
}

/** Multiplies a kernel by ratios, and returns its sum: of four parts, since a sum waits for the one before. */
function multiply(kernel: Float64Array, ratios: Float64Array, from: number): number {
  const { length } = kernel;
  const fours = length - (length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < fours; i += 4) {
    const k0 = kernel[i] * ratios[from + i];
    const k1 = kernel[i + 1] * ratios[from + i + 1];
    const k2 = kernel[i + 2] * ratios[from + i + 2];
    const k3 = kernel[i + 3] * ratios[from + i + 3];
    kernel[i] = k0;
    kernel[i + 1] = k1;
    kernel[i + 2] = k2;
    kernel[i + 3] = k3;
    a += k0;
    b += k1;
    c += k2;
    d += k3;
  }
  for (let i = fours; i < length; i++) {
    kernel[i] *= ratios[from + i];
    a += kernel[i];
  }
  return a + b + (c + d);
}

/** The scores of a kernel with each point. */
function weigh(kernel: Float64Array, weights: Float64Array, scores: Float64Array): void {
  const { length } = kernel;
  const fours = length - (length % 4);
  for (let k = 0; k < scores.length; k++) {
    const from = k * length;
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < fours; i += 4) {
      a += weights[from + i] * kernel[i];
      b += weights[from + i + 1] * kernel[i + 1];
      c += weights[from + i + 2] * kernel[i + 2];
      d += weights[from + i + 3] * kernel[i + 3];
    }
    for (let i = fours; i < length; i++) {
      a += weights[from + i] * kernel[i];
    }
    scores[k] = a + b + (c + d);
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
