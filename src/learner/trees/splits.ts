import type { Split } from './trees';

/** Rules for splitting a node. */
export interface SplitRules {
  /** L2 regularisation: added to the sum of hessians in every gain and leaf value. */
  lambda: number;
  /** Minimum sum of hessians on each side (rows, if the hessian is 1). */
  minHessian: number;
  /** Gain that a split must exceed. */
  minGain: number;
  /** Added to a category's hessian when categories are sorted, so that rare ones fall in the middle. */
  categorySmooth: number;
  /** Additional `lambda` for a split among more than four categories. */
  categoryLambda: number;
}

/** The best split found so far at a node. `gain` 0: none. */
export interface SplitCandidate extends Split {
  gain: number;
}

/**
 * A histogram of one column at a node, from `offset` on: bins × (width + 1), per bin the sums of `width` gradients,
 * then of the hessian. `totals`: the same sums over the node. Bin 0 holds missing values.
 */
interface ColumnHistogram {
  sums: Float64Array;
  offset: number;
  bins: number;
  totals: Float64Array;
  width: number;
}

function score(gradients: Float64Array, width: number, hessian: number): number {
  let sum = 0;
  for (let d = 0; d < width; d++) {
    sum += gradients[d] * gradients[d];
  }
  return sum / hessian;
}

const left = new Float64Array(256);
const right = new Float64Array(256);

/** The gain of `left` against the rest of `totals`; 0 if the hessian of a side is too small. */
function gainOf(
  h: ColumnHistogram,
  leftHessian: number,
  parent: number,
  rules: SplitRules,
  lambda: number,
): number {
  const { totals, width } = h;
  const rightHessian = totals[width] - leftHessian;
  if (leftHessian < rules.minHessian || rightHessian < rules.minHessian) {
    return 0;
  }
  for (let d = 0; d < width; d++) {
    right[d] = totals[d] - left[d];
  }
  return score(left, width, leftHessian + lambda) + score(right, width, rightHessian + lambda) - parent;
}

/**
 * Tries every border of an ordered column, with missing values on either side, and improves `best`. If the node has
 * no missing values, those of later rows go to the heavier side.
 */
export function tryOrdered(
  h: ColumnHistogram,
  column: number,
  rules: SplitRules,
  best: SplitCandidate,
): void {
  if (h.width === 1) {
    tryOrderedSingle(h, column, rules, best);
    return;
  }
  if (h.width === 2) {
    tryOrderedPair(h, column, rules, best);
    return;
  }
  const { sums, offset, bins, totals, width } = h;
  const stride = width + 1;
  const parent = score(totals, width, totals[width] + rules.lambda);
  const missing = sums[offset + width];
  for (let withMissing = 0; withMissing < (missing > 0 ? 2 : 1); withMissing++) {
    let hessian = 0;
    left.fill(0, 0, width);
    if (withMissing) {
      hessian = missing;
      for (let d = 0; d < width; d++) {
        left[d] = sums[offset + d];
      }
    }
    for (let bin = 1; bin < bins; bin++) {
      const at = offset + bin * stride;
      if (sums[at + width] === 0) {
        continue;
      }
      for (let d = 0; d < width; d++) {
        left[d] += sums[at + d];
      }
      hessian += sums[at + width];
      const gain = gainOf(h, hessian, parent, rules, rules.lambda);
      if (gain > best.gain && gain > rules.minGain) {
        best.gain = gain;
        best.column = column;
        best.bin = bin;
        best.missingLeft = missing > 0 ? withMissing === 1 : hessian * 2 >= totals[width];
        best.set = undefined;
      }
    }
  }
}

function tryOrderedSingle(h: ColumnHistogram, column: number, rules: SplitRules, best: SplitCandidate): void {
  const { sums, offset, bins } = h;
  const { lambda, minHessian } = rules;
  const total = h.totals[0];
  const totalHessian = h.totals[1];
  const parent = (total * total) / (totalHessian + lambda);
  const missing = sums[offset];
  const missingHessian = sums[offset + 1];
  let top = Math.max(best.gain, rules.minGain) + parent;
  let found = 0;
  let foundMissing = false;
  let foundHessian = 0;
  for (let withMissing = 0; withMissing < (missingHessian > 0 ? 2 : 1); withMissing++) {
    let gradient = withMissing ? missing : 0;
    let hessian = withMissing ? missingHessian : 0;
    for (let bin = 1, at = offset + 2; bin < bins; bin++, at += 2) {
      const binHessian = sums[at + 1];
      if (binHessian === 0) {
        continue;
      }
      gradient += sums[at];
      hessian += binHessian;
      if (hessian < minHessian) {
        continue;
      }
      const rest = totalHessian - hessian;
      if (rest < minHessian) {
        break;
      }
      // The gain times both denominators: dividing each time would take longer than everything else.
      const other = total - gradient;
      const below = hessian + lambda;
      const above = rest + lambda;
      const scaled = gradient * gradient * above + other * other * below;
      if (scaled > top * (below * above)) {
        top = scaled / (below * above);
        found = bin;
        foundHessian = hessian;
        foundMissing = withMissing === 1;
      }
    }
  }
  if (found > 0) {
    best.gain = top - parent;
    best.column = column;
    best.bin = found;
    best.missingLeft = missingHessian > 0 ? foundMissing : foundHessian * 2 >= totalHessian;
    best.set = undefined;
  }
}

const keys = new Float64Array(256);
const keyWords = new Uint32Array(keys.buffer);
const LOW_WORD = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

/**
 * Sorts the categories of a node by mean gradient and tries every border in that order. With one gradient this finds
 * the best of all partitions (W. D. Fisher, 1958). Bins unseen at this node go to the heavier side.
 *
 * @param chance what each category beyond the first gains by chance; a split has to gain more
 */
export function tryCategories(
  h: ColumnHistogram,
  column: number,
  rules: SplitRules,
  best: SplitCandidate,
  chance = 0,
): void {
  const { sums, offset, bins, totals, width } = h;
  const stride = width + 1;
  let main = 0;
  if (width > 1) {
    main = widest(h);
  }
  let seen = 0;
  for (let bin = 0; bin < bins; bin++) {
    const at = offset + bin * stride;
    const hessian = sums[at + width];
    if (hessian === 0) {
      continue;
    }
    keys[seen] = sums[at + main] / (hessian + rules.categorySmooth);
    const low = seen * 2 + LOW_WORD;
    keyWords[low] = (keyWords[low] & ~0xff) | bin;
    seen++;
  }
  if (seen < 2) {
    return;
  }
  const order = keys.subarray(0, seen).sort();
  const orderWords = keyWords;
  const lambda = seen > 4 ? rules.lambda + rules.categoryLambda : rules.lambda;
  const parent = score(totals, width, totals[width] + lambda);
  const least = chance * (seen - 1);
  left.fill(0, 0, width);
  let hessian = 0;
  let cut = -1;
  let heavierLeft = false;
  // Of one gradient, which is nearly always so, it is summed without an array.
  const single = width === 1 ? totals[0] : 0;
  let leftSingle = 0;
  for (let i = 0; i < order.length - 1; i++) {
    const at = offset + (orderWords[i * 2 + LOW_WORD] & 0xff) * stride;
    hessian += sums[at + width];
    let gain: number;
    if (width === 1) {
      leftSingle += sums[at];
      const rest = totals[1] - hessian;
      if (hessian < rules.minHessian || rest < rules.minHessian) {
        continue;
      }
      const right = single - leftSingle;
      gain =
        (leftSingle * leftSingle) / (hessian + lambda) + (right * right) / (rest + lambda) - parent - least;
    } else {
      for (let d = 0; d < width; d++) {
        left[d] += sums[at + d];
      }
      gain = gainOf(h, hessian, parent, rules, lambda) - least;
    }
    if (gain > best.gain && gain > rules.minGain) {
      best.gain = gain;
      cut = i;
      heavierLeft = hessian * 2 >= totals[width];
    }
  }
  if (cut < 0) {
    return;
  }
  const set = new Int32Array(8);
  if (heavierLeft) {
    set.fill(-1);
  }
  for (let i = 0; i < order.length; i++) {
    const bin = orderWords[i * 2 + LOW_WORD] & 0xff;
    if (i <= cut) {
      set[bin >> 5] |= 1 << (bin & 31);
    } else {
      set[bin >> 5] &= ~(1 << (bin & 31));
    }
  }
  best.column = column;
  best.bin = 0;
  best.missingLeft = (set[0] & 1) === 1;
  best.set = set;
}

/** The channel whose gradient varies most between bins: with several, categories are sorted by that one. */
function widest(h: ColumnHistogram): number {
  const { sums, offset, bins, width } = h;
  let most = -1;
  let main = 0;
  for (let d = 0; d < width; d++) {
    let spread = 0;
    for (let bin = 0; bin < bins; bin++) {
      const at = offset + bin * (width + 1);
      if (sums[at + width] > 0) {
        spread += (sums[at + d] * sums[at + d]) / sums[at + width];
      }
    }
    if (spread > most) {
      most = spread;
      main = d;
    }
  }
  return main;
}

/** `tryOrdered` for two gradients, to the same bits: sums that stay in registers take half the time. */
function tryOrderedPair(
  { sums, offset, bins, totals }: ColumnHistogram,
  column: number,
  { lambda, minHessian, minGain }: SplitRules,
  best: SplitCandidate,
): void {
  const total0 = totals[0];
  const total1 = totals[1];
  const totalHessian = totals[2];
  const parent = (total0 * total0 + total1 * total1) / (totalHessian + lambda);
  const missingHessian = sums[offset + 2];
  let top = Math.max(best.gain, minGain);
  let found = 0;
  let foundMissing = false;
  let foundHessian = 0;
  for (let withMissing = 0; withMissing < (missingHessian > 0 ? 2 : 1); withMissing++) {
    let left0 = withMissing ? sums[offset] : 0;
    let left1 = withMissing ? sums[offset + 1] : 0;
    let hessian = withMissing ? missingHessian : 0;
    for (let bin = 1, at = offset + 3; bin < bins; bin++, at += 3) {
      const binHessian = sums[at + 2];
      if (binHessian === 0) {
        continue;
      }
      left0 += sums[at];
      left1 += sums[at + 1];
      hessian += binHessian;
      if (hessian < minHessian) {
        continue;
      }
      const rest = totalHessian - hessian;
      if (rest < minHessian) {
        break;
      }
      const right0 = total0 - left0;
      const right1 = total1 - left1;
      const below = (left0 * left0 + left1 * left1) / (hessian + lambda);
      const gain = below + (right0 * right0 + right1 * right1) / (rest + lambda) - parent;
      if (gain > top) {
        top = gain;
        found = bin;
        foundHessian = hessian;
        foundMissing = withMissing === 1;
      }
    }
  }
  if (found > 0) {
    best.gain = top;
    best.column = column;
    best.bin = found;
    best.missingLeft = missingHessian > 0 ? foundMissing : foundHessian * 2 >= totalHessian;
    best.set = undefined;
  }
}

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
interface SmallNode {
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
