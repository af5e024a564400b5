import type { EnsembleProcess } from '../model/ensemble';
import {
  addProductEffects,
  type GroupFactors,
  groupFactors,
  MAX_HALVED,
  type ProductBuffers,
  writeWeights,
} from './process-effects';
import {
  allRows,
  type CoalitionLayout,
  type ForegroundRow,
  mixtureCount,
  type Permutations,
} from './shapley';

/**
 * Scores of a Gaussian process for every coalition: mixtures × outputs. A product over groups is also a product over
 * two halves of the players, so a point's values for all coalitions are the outer product of its values for each
 * half.
 */
export function productCoalitions(
  { gaussian, base }: EnsembleProcess,
  foreground: ForegroundRow,
  { at, bitOf }: CoalitionLayout,
): Float64Array {
  const outputs = base.length;
  const factors = groupFactors(gaussian.kernel, foreground, outputs);
  writeWeights(gaussian, factors.buffers);
  const out = new Float64Array(at[at.length - 1] * outputs);
  for (let row = 0; row + 1 < at.length; row++) {
    const bits = factors.groups.map((group) => bitOf[row * foreground.groups + group]);
    const size = at[row + 1] - at[row];
    const own = scoresByHalves(factors.buffers, row, bits);
    const all = own.length / outputs;
    const placeOf = placesOfCoalitions(bits, size);
    for (let coalition = 0, to = at[row] * outputs; coalition < size; coalition++) {
      for (let k = 0; k < outputs; k++) {
        out[to++] = base[k] + own[k * all + placeOf[coalition]];
      }
    }
  }
  return out;
}

/** Maps each coalition to its restriction to the kernel's groups: bit i for the i-th of them. */
function placesOfCoalitions(bits: number[], size: number): Int32Array {
  const placeOfBit = new Map(bits.filter((bit) => bit !== 0).map((bit, i) => [bit, 1 << i]));
  const places = new Int32Array(size);
  for (let coalition = 1; coalition < size; coalition++) {
    const lowest = coalition & -coalition;
    places[coalition] = places[coalition ^ lowest] | (placeOfBit.get(lowest) ?? 0);
  }
  return places;
}

/**
 * Scores for the coalitions of the kernel's differing groups (those whose `bits` are not 0): outputs × coalitions.
 */
function scoresByHalves(buffers: ProductBuffers, row: number, bits: number[]): Float64Array {
  const all = Array.from(bits.keys());
  const differing = all.filter((g) => bits[g] !== 0);
  const middle = differing.length >> 1;
  const lists = {
    alike: all.filter((g) => bits[g] === 0),
    first: differing.slice(0, middle),
    second: differing.slice(middle),
  };
  const { kernels, size } = buffers;
  const { outputs } = size;
  if (middle > 0 && differing.length <= MAX_HALVED) {
    const { own, others, low, high, weights } = buffers;
    const { groups, points, rows } = size;
    const sums = buffers.sums.subarray(0, outputs << differing.length);
    sums.fill(0);
    [...lists.alike, ...lists.first, ...lists.second].forEach((g, i) => (buffers.lists[i] = g * 8));
    const alikeAt = buffers.lists.byteOffset;
    const firstAt = alikeAt + 4 * lists.alike.length;
    kernels.addCoalitions(
      ...([own.byteOffset, others.byteOffset + row * groups * 8, groups * 8, rows * groups * 8] as const),
      ...([alikeAt, firstAt, firstAt + 4 * lists.first.length, alikeAt + 4 * groups] as const),
      ...([low.byteOffset, high.byteOffset, weights.byteOffset, points * 8] as const),
      ...([sums.byteOffset, sums.byteOffset + sums.byteLength] as const),
    );
    return sums;
  }
  const sums = new Float64Array(outputs << differing.length);
  addCoalitions(buffers, row, lists, sums);
  return sums;
}

/** For a group or none, and for more than the buffers have room for. */
function addCoalitions(
  { size, own, others, weights }: ProductBuffers,
  row: number,
  { alike, first, second }: { alike: number[]; first: number[]; second: number[] },
  sums: Float64Array,
): void {
  const { outputs, points, groups, rows } = size;
  const low = new Float64Array(1 << first.length);
  const high = new Float64Array(1 << second.length);
  for (let point = 0; point < points; point++) {
    const ownAt = point * groups;
    const otherAt = (point * rows + row) * groups;
    const fill = (half: Float64Array, players: number[], start: number) => {
      half[0] = start;
      let length = 1;
      for (const g of players) {
        for (let i = 0; i < length; i++) {
          half[length + i] = half[i] * own[ownAt + g];
          half[i] *= others[otherAt + g];
        }
        length *= 2;
      }
    };
    fill(
      low,
      first,
      alike.reduce((product, g) => product * others[otherAt + g], 1),
    );
    fill(high, second, 1);
    for (let k = 0, to = 0; k < outputs; k++) {
      const weight = weights[k * points + point];
      for (let j = 0; j < high.length; j++) {
        const factor = weight * high[j];
        for (let i = 0; i < low.length; i++, to++) {
          sums[to] += factor * low[i];
        }
      }
    }
  }
}

/** Contributions of the Gaussian process that all members share. */
interface ProcessScores {
  /**
   * For each set of permutations, mixtures × outputs: the score of the first mixture, then the change at each step.
   */
  changes: Float64Array[];
  /** Outputs × groups: Shapley values, summed over the background rows asked for. */
  effects: Float64Array;
}

/**
 * Quadrature nodes. These effects serve as a control variate, so a small error is harmless (1e-12 for 16 smooth
 * columns).
 */
const CONTROL_VARIATE_NODES = 4;

export function processAlongPermutations(
  { gaussian, base }: EnsembleProcess,
  foreground: ForegroundRow,
  sets: Permutations[],
): ProcessScores {
  const mixtures = Math.max(0, ...sets.map(mixtureCount));
  const rows = allRows(foreground.background);
  const factors = groupFactors(gaussian.kernel, foreground, base.length, mixtures);
  const effects = new Float64Array(base.length * foreground.groups);
  const about = { rows, share: 1, groups: foreground.groups, nodes: CONTROL_VARIATE_NODES };
  const starts = addProductEffects(gaussian, factors, about, effects);
  spreadRest(factors, { starts, count: foreground.background.rows }, effects);
  if (sets.length > 0) {
    factors.buffers.base.set(base);
    writeByFours(factors.buffers);
    findRatios(factors.buffers);
  }
  return { changes: sets.map((permutations) => changesAlong(factors, permutations, rows)), effects };
}

/** Distributes what the short quadrature misses over the effects in proportion, so that they add up exactly. */
function spreadRest(
  { groups: list, buffers: { size, weights, own } }: GroupFactors,
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
    const outputEffects = effects.subarray(k * groups, (k + 1) * groups);
    const sum = outputEffects.reduce((all, effect) => all + effect, 0);
    const size = outputEffects.reduce((all, effect) => all + Math.abs(effect), 0);
    const rest = count * end - starts[k] - sum;
    outputEffects.forEach(
      (effect, group) => (outputEffects[group] += size > 0 ? (rest * Math.abs(effect)) / size : 0),
    );
  }
}

function findRatios({ kernels, size, own, ownByGroup, othersByGroup, ratios }: ProductBuffers): void {
  const { groups, points } = size;
  for (let point = 0; point < points; point++) {
    for (let g = 0; g < groups; g++) {
      ownByGroup[g * points + point] = own[point * groups + g];
    }
  }
  const end = ratios.byteOffset + ratios.byteLength;
  kernels.divideByRows(
    ...([ownByGroup.byteOffset, othersByGroup.byteOffset, ownByGroup.byteLength] as const),
    ...([ratios.byteOffset, end] as const),
  );
}

/** The score of each permutation's first mixture and the change at each step, for the background `rows`. */
function changesAlong(
  { groups, buffers }: GroupFactors,
  permutations: Permutations,
  rows: number,
): Float64Array {
  const { outputs, points } = buffers.size;
  const mixtures = mixtureCount(permutations);
  const changes = buffers.changes.subarray(0, mixtures * outputs);
  changes.fill(0);
  buffers.places.set(placesOf(permutations, groups, points * 8));
  const { kernels, starts, ratios, places, weights, weightsByFours, base, scratch } = buffers;
  kernels.followPermutations(
    ...([starts.byteOffset, ratios.byteOffset, groups.length * points * 8] as const),
    ...([places.byteOffset, places.byteOffset + mixtures * 4, permutations.steps * 4] as const),
    ...([permutations.perRow * permutations.steps * 4, rows, points * 8, weights.byteOffset] as const),
    ...([weightsByFours.byteOffset, base.byteOffset, outputs * 8] as const),
    ...([scratch.byteOffset, changes.byteOffset] as const),
  );
  return changes.slice();
}

function writeByFours({ size: { points, outputs }, weights, weightsByFours }: ProductBuffers): void {
  const fours = points - (points % 4);
  for (let k = 0; k < outputs; k++) {
    for (let point = 0; point < points; point++) {
      const to = point < fours ? outputs * (point - (point % 4)) + 4 * k + (point % 4) : outputs * point + k;
      weightsByFours[to] = weights[k * points + point];
    }
  }
}

const knownPlaces = new WeakMap<Permutations, { groups: string; bytes: number; places: Int32Array }>();

/** Per mixture, the byte offset of the ratios of the group that flips there; -1 if the kernel has no such group. */
function placesOf(permutations: Permutations, groups: number[], bytes: number): Int32Array {
  const key = groups.join();
  const known = knownPlaces.get(permutations);
  if (known?.groups === key && known.bytes === bytes) {
    return known.places;
  }
  const places = new Int32Array(mixtureCount(permutations)).fill(-1);
  const placeOf = new Map(groups.map((group, place) => [group, place]));
  permutations.flipped.forEach((group, mixture) => {
    const place = placeOf.get(group);
    if (place !== undefined) {
      places[mixture] = place * bytes;
    }
  });
  knownPlaces.set(permutations, { groups: key, bytes, places });
  return places;
}

/** Points that cost as much as one member's score of a mixture. */
const POINTS_PER_SCORE = 15;

/** Cost of a mixture, in scores of a member. */
export function scoresPerMixture(
  members: number,
  width: number,
  process: EnsembleProcess | undefined,
): number {
  const { points, rates } = process?.gaussian.kernel ?? { points: [], rates: [1] };
  return width * (members + points.length / rates.length / POINTS_PER_SCORE);
}

/** Cost of the process along one permutation in all members, in tree nodes. */
export function nodesPerPermutation(members: number, process: EnsembleProcess | undefined): number {
  return members * (process?.gaussian.kernel.points.length ?? 0);
}
