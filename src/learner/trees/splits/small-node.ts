import { tryCategories, tryOrdered } from './split-finder';
import type { SplitCandidate, SplitRules } from './splits';

/*
 * Splits of nodes with fewer rows than their columns have bins. A histogram would be nearly empty, and clearing,
 * subtracting and searching it would cost more than summing the rows. So each column is summed in one small scratch
 * histogram, and only the bins that occur are visited, in order, using a bitset. Sums are exact, so the split is the
 * same.
 */

const sums = new Float64Array(512);
const occurs = new Int32Array(8);
/** The sums of the bins that occur, compacted: place k > 0 is bin `binAt[k]`; missing values are at 0. */
const dense = new Float64Array(512);
const binAt = new Uint8Array(257);

/**
 * A node: `rows[start … end - 1]`. `gathered`: rows × 2, their gradients and hessians. `totals`: the sums of both.
 */
export interface SmallNode {
  rows: Int32Array;
  start: number;
  end: number;
  gathered: Float64Array;
  totals: Float64Array;
}

/** Improves `best` by the splits of one column. */
export function trySmallNode(
  node: SmallNode,
  bins: Uint8Array,
  spec: { bins: number; category: boolean },
  column: number,
  rules: SplitRules,
  best: SplitCandidate,
  chance = 0,
): void {
  const { rows, start, end, gathered, totals } = node;
  for (let i = start, from = 0; i < end; i++, from += 2) {
    const bin = bins[rows[i]];
    sums[bin * 2] += gathered[from];
    sums[bin * 2 + 1] += gathered[from + 1];
    occurs[bin >> 5] |= 1 << (bin & 31);
  }
  if (spec.category) {
    tryCategories({ sums, offset: 0, bins: spec.bins, totals, width: 1 }, column, rules, best, chance);
    clear(spec.bins);
    return;
  }
  const places = compact();
  tryOrdered({ sums: dense, offset: 0, bins: places, totals, width: 1 }, column, rules, best);
  // Compares the column, not the gain: an improvement below rounding leaves the gain unchanged.
  if (best.column === column) {
    best.bin = binAt[best.bin];
  }
}

/** Moves the sums to `dense`, in order of bins, and clears them. Returns the number of places. */
function compact(): number {
  dense[0] = sums[0];
  dense[1] = sums[1];
  sums[0] = 0;
  sums[1] = 0;
  occurs[0] &= ~1;
  let place = 1;
  for (let word = 0; word < 8; word++) {
    let bits = occurs[word];
    occurs[word] = 0;
    while (bits !== 0) {
      const bin = (word << 5) + 31 - Math.clz32(bits & -bits);
      bits &= bits - 1;
      dense[place * 2] = sums[bin * 2];
      dense[place * 2 + 1] = sums[bin * 2 + 1];
      sums[bin * 2] = 0;
      sums[bin * 2 + 1] = 0;
      binAt[place++] = bin;
    }
  }
  return place;
}

function clear(bins: number): void {
  sums.fill(0, 0, bins * 2);
  occurs.fill(0);
}
