import { lowestBit } from '../../math/bits';
import type { EnsembleProcess } from '../../model/predict/process-apart';
import type { CoalitionLayout } from '../shapley/coalition-layout';
import type { ForegroundRow } from '../shapley/foreground';
import { groupFactors } from './group-factors';
import { MAX_HALVED, type ProductBuffers } from './product-buffers';

/**
 * Scores of a Gaussian process for every coalition: mixtures × outputs. A product over groups is also a product over
 * two halves of the players, so a point's values for all coalitions are the outer product of its values for each
 * half.
 */
export function productCoalitions(
  { gaussian, base }: EnsembleProcess,
  foreground: ForegroundRow,
  { rows, at, bitOf }: CoalitionLayout,
): Float64Array {
  const outputs = base.length;
  const factors = groupFactors(gaussian.kernel, foreground, outputs);
  factors.buffers.weights.set(gaussian.weights);
  const out = new Float64Array(at[at.length - 1] * outputs);
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    const bits = factors.groups.map((group) => bitOf[row * foreground.groups + group]);
    const size = at[row + 1] - at[row];
    const own = scoresByHalves(factors.buffers, row, bits);
    const all = own.length / outputs;
    const placeOf = placesOf(bits, size);
    for (let coalition = 0, to = at[row] * outputs; coalition < size; coalition++) {
      for (let k = 0; k < outputs; k++) {
        out[to++] = base[k] + own[k * all + placeOf[coalition]];
      }
    }
  }
  return out;
}

/** Maps each coalition to its restriction to the kernel's groups: bit i for the i-th of them. */
function placesOf(bits: number[], size: number): Int32Array {
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
