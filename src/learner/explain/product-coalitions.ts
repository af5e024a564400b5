import { lowestBit } from '../math/bits';
import type { EnsembleProcess } from '../model/process-apart';
import type { Coalitions } from './coalition-layout';
import type { Compared } from './compared';
import { type GroupFactors, groupFactors } from './products';

/**
 * Scores of a Gaussian process for every coalition: mixtures × outputs. A kernel that is a product over groups is one over
 * two halves of the players too, so that a point's part in all coalitions is the outer product of its parts in both.
 */
export function productCoalitions(
  { gaussian, base }: EnsembleProcess,
  compared: Compared,
  { rows, at, bitOf }: Coalitions,
): Float64Array {
  const outputs = base.length;
  const factors = groupFactors(gaussian.kernel, compared);
  const out = new Float64Array(at[at.length - 1] * outputs);
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    const bits = factors.groups.map((group) => bitOf[row * compared.groups + group]);
    const size = at[row + 1] - at[row];
    const own = scoresOfHalves(gaussian.weights, outputs, factors, row, bits);
    const placeOf = placesOf(bits, size);
    for (let coalition = 0, to = at[row] * outputs; coalition < size; coalition++) {
      const from = placeOf[coalition] * outputs;
      for (let k = 0; k < outputs; k++) {
        out[to++] = base[k] + own[from + k];
      }
    }
  }
  return out;
}

/** Of each coalition, the number of that of its groups that take part in the kernel: bit i for the i-th of these. */
function placesOf(bits: number[], size: number): Int32Array {
  const placeOfBit = new Map(bits.filter((bit) => bit !== 0).map((bit, i) => [bit, 1 << i]));
  const places = new Int32Array(size);
  for (let coalition = 1; coalition < size; coalition++) {
    const lowest = coalition & -coalition;
    places[coalition] = places[coalition ^ lowest] | (placeOfBit.get(lowest) ?? 0);
  }
  return places;
}

/** Scores of the coalitions of the kernel's groups that differ (`bits` is not 0): coalitions × outputs. */
function scoresOfHalves(
  weights: Float64Array,
  outputs: number,
  { groups, points, own, others, rows }: GroupFactors,
  row: number,
  bits: number[],
): Float64Array {
  const count = groups.length;
  const differing = Array.from(groups.keys()).filter((g) => bits[g] !== 0);
  const middle = differing.length >> 1;
  const first = differing.slice(0, middle);
  const second = differing.slice(middle);
  const low = new Float64Array(1 << first.length);
  const high = new Float64Array(1 << second.length);
  const sums = new Float64Array(low.length * high.length * outputs);
  for (let point = 0; point < points; point++) {
    const ownAt = point * count;
    const otherAt = (point * rows + row) * count;
    let alike = 1;
    for (let g = 0; g < count; g++) {
      alike *= bits[g] === 0 ? others[otherAt + g] : 1;
    }
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
    fill(low, first, alike);
    fill(high, second, 1);
    for (let k = 0; k < outputs; k++) {
      const weight = weights[k * points + point];
      for (let j = 0, to = k; j < high.length; j++) {
        const factor = weight * high[j];
        for (let i = 0; i < low.length; i++, to += outputs) {
          sums[to] += factor * low[i];
        }
      }
    }
  }
  return sums;
}
