import { bitCount } from '../../math/bits';
import type { EnsembleProcess } from '../../model/predict/process-apart';
import type { Compared } from '../shapley/compared';
import { eachOrder, mixturesOf, type Orders } from '../shapley/orders';
import { type GroupFactors, groupFactors } from './product-factors';
import type { ProductRoom } from './product-room';
import { addProductShares } from './products';

/** What a Gaussian process that all members share says of the mixtures of a row with the background's rows. */
export interface SharedProcess {
  /** For each set of orders, mixtures × outputs: the score before the first step, then its change at each step. */
  changes: Float64Array[];
  /** outputs × groups: its Shapley values, added up over the background's rows that effects are about. */
  effects: Float64Array;
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
  const mixtures = Math.max(0, ...sets.map(mixturesOf));
  const factors = groupFactors(gaussian.kernel, compared, base.length, mixtures);
  const effects = new Float64Array(base.length * compared.groups);
  const about = { rows, share: 1, groups: compared.groups, nodes: ENOUGH_NODES };
  const starts = addProductShares(gaussian, factors, about, effects);
  spreadRest(factors, { starts, count: bitCount(rows) }, effects);
  if (sets.length > 0) {
    factors.room.base.set(base);
    writeByFours(factors.room);
    findRatios(factors.room);
  }
  return { changes: sets.map((orders) => changesAlong(factors, orders, rows)), effects };
}

/** Makes the effects on each output add up, in proportion: by as much as a quadrature of few nodes leaves out. */
function spreadRest(
  { groups: list, room: { size, weights, own } }: GroupFactors,
  { starts, count }: { starts: Float64Array; count: number },
  effects: Float64Array,
): void {
  const { points } = size;
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

function findRatios({ functions, size, own, ownByGroup, othersByGroup, ratios }: ProductRoom): void {
  const { groups, points } = size;
  for (let point = 0; point < points; point++) {
    for (let g = 0; g < groups; g++) {
      ownByGroup[g * points + point] = own[point * groups + g];
    }
  }
  if (functions) {
    const end = ratios.byteOffset + ratios.byteLength;
    functions.divide(
      ...([ownByGroup.byteOffset, othersByGroup.byteOffset, ownByGroup.byteLength] as const),
      ...([ratios.byteOffset, end] as const),
    );
    return;
  }
  for (let i = 0; i < ratios.length; i++) {
    ratios[i] = ownByGroup[i % ownByGroup.length] / othersByGroup[i];
  }
}

/** The change of each score at each step of the orders (of the background's `rows`), and before the first the score. */
function changesAlong({ groups, room }: GroupFactors, orders: Orders, rows: number): Float64Array {
  const { outputs, points } = room.size;
  const mixtures = mixturesOf(orders);
  const changes = room.changes.subarray(0, mixtures * outputs);
  changes.fill(0);
  room.places.set(placesOf(orders, groups, points * 8));
  const { functions, starts, ratios, places, weights, weightsByFours, base, scratch } = room;
  if (functions) {
    functions.follow(
      ...([starts.byteOffset, ratios.byteOffset, groups.length * points * 8] as const),
      ...([places.byteOffset, places.byteOffset + mixtures * 4, orders.steps * 4] as const),
      ...([orders.perRow * orders.steps * 4, rows, points * 8, weights.byteOffset] as const),
      ...([
        weightsByFours.byteOffset,
        base.byteOffset,
        outputs * 8,
        scratch.byteOffset,
        changes.byteOffset,
      ] as const),
    );
  } else {
    follow(room, orders, rows);
  }
  return changes.slice();
}

function writeByFours({ size: { points, outputs }, weights, weightsByFours }: ProductRoom): void {
  const fours = points - (points % 4);
  for (let k = 0; k < outputs; k++) {
    for (let point = 0; point < points; point++) {
      const to = point < fours ? outputs * (point - (point % 4)) + 4 * k + (point % 4) : outputs * point + k;
      weightsByFours[to] = weights[k * points + point];
    }
  }
}

const knownPlaces = new WeakMap<Orders, { groups: string; bytes: number; places: Int32Array }>();

/** Per mixture how many bytes the ratios of the group that passes there are behind those of the first; -1: none. */
function placesOf(orders: Orders, groups: number[], bytes: number): Int32Array {
  const key = groups.join();
  const known = knownPlaces.get(orders);
  if (known?.groups === key && known.bytes === bytes) {
    return known.places;
  }
  const places = new Int32Array(mixturesOf(orders)).fill(-1);
  const placeOf = new Map(groups.map((group, place) => [group, place]));
  orders.passing.forEach((group, mixture) => {
    const place = placeOf.get(group);
    if (place !== undefined) {
      places[mixture] = place * bytes;
    }
  });
  knownPlaces.set(orders, { groups: key, bytes, places });
  return places;
}

function follow(
  { size, starts, ratios, places, weights, base, changes }: ProductRoom,
  orders: Orders,
  rows: number,
): void {
  const { outputs, points, groups } = size;
  // With one output the kernel is kept times the weights.
  const isWeighted = outputs === 1;
  const kernel = new Float64Array(points);
  const scores = new Float64Array(outputs);
  const before = new Float64Array(outputs);
  eachOrder(orders, (first, _, row) => {
    if (((rows >>> row) & 1) === 0) {
      return;
    }
    kernel.set(starts.subarray(row * points, (row + 1) * points));
    weigh(kernel, weights, scores);
    for (let k = 0; k < outputs; k++) {
      changes[first * outputs + k] = base[k] + scores[k];
    }
    for (let point = 0; isWeighted && point < points; point++) {
      kernel[point] *= weights[point];
    }
    for (let step = 1; step < orders.steps; step++) {
      const place = places[first + step];
      if (place < 0) {
        continue;
      }
      before.set(scores);
      const sum = multiply(kernel, ratios, row * groups * points + place / 8);
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
