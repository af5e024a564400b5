/** Rules for splitting a node. */
export interface SplitRules {
  /** Added to the sum of second derivatives in every gain and leaf value. */
  lambda: number;
  /** Least sum of second derivatives (rows, where those are 1) on each side. */
  minWeight: number;
  /** Gain that a split must exceed. */
  minGain: number;
  /** Added to a category's weight when categories are put in order, so that rare ones fall in the middle. */
  categorySmooth: number;
  /** Further `lambda` for a category split among more than four. */
  categoryLambda: number;
}

/** The best split found so far at a node. `gain` 0: none. */
export interface Candidate {
  gain: number;
  column: number;
  bin: number;
  missingLeft: boolean;
  set: Int32Array | undefined;
}

/**
 * A histogram of one column at a node: `width` sums of gradients and one of second derivatives per bin, from
 * `offset` on. `totals` are the same sums over the node.
 */
export interface ColumnHistogram {
  sums: Float64Array;
  offset: number;
  bins: number;
  totals: Float64Array;
  width: number;
}

function score(gradients: Float64Array, width: number, weight: number): number {
  let sum = 0;
  for (let d = 0; d < width; d++) {
    sum += gradients[d]! * gradients[d]!;
  }
  return sum / weight;
}

const left = new Float64Array(256);
const right = new Float64Array(256);

/** The gain of `left` against the rest of `totals`, where both sides are heavy enough; else 0. */
function gainOf(
  h: ColumnHistogram,
  leftWeight: number,
  parent: number,
  rules: SplitRules,
  lambda: number,
): number {
  const { totals, width } = h;
  const rightWeight = totals[width]! - leftWeight;
  if (leftWeight < rules.minWeight || rightWeight < rules.minWeight) {
    return 0;
  }
  for (let d = 0; d < width; d++) {
    right[d] = totals[d]! - left[d]!;
  }
  return score(left, width, leftWeight + lambda) + score(right, width, rightWeight + lambda) - parent;
}

/**
 * Tries every border of an ordered column, with missing values on either side, and improves `best`. Without
 * missing values at this node, they would follow the heavier side.
 */
export function tryOrdered(h: ColumnHistogram, column: number, rules: SplitRules, best: Candidate): void {
  if (h.width === 1) {
    tryOrderedSingle(h, column, rules, best);
    return;
  }
  const { sums, offset, bins, totals, width } = h;
  const stride = width + 1;
  const parent = score(totals, width, totals[width]! + rules.lambda);
  const missing = sums[offset + width]!;
  for (let withMissing = 0; withMissing < (missing > 0 ? 2 : 1); withMissing++) {
    let weight = 0;
    left.fill(0, 0, width);
    if (withMissing) {
      weight = missing;
      for (let d = 0; d < width; d++) {
        left[d] = sums[offset + d]!;
      }
    }
    for (let bin = 1; bin < bins; bin++) {
      const at = offset + bin * stride;
      if (sums[at + width] === 0) {
        continue;
      }
      for (let d = 0; d < width; d++) {
        left[d]! += sums[at + d]!;
      }
      weight += sums[at + width]!;
      const gain = gainOf(h, weight, parent, rules, rules.lambda);
      if (gain > best.gain && gain > rules.minGain) {
        best.gain = gain;
        best.column = column;
        best.bin = bin;
        best.missingLeft = missing > 0 ? withMissing === 1 : weight * 2 >= totals[width]!;
        best.set = undefined;
      }
    }
  }
}

function tryOrderedSingle(h: ColumnHistogram, column: number, rules: SplitRules, best: Candidate): void {
  const { sums, offset, bins } = h;
  const { lambda, minWeight } = rules;
  const total = h.totals[0]!;
  const totalWeight = h.totals[1]!;
  const parent = (total * total) / (totalWeight + lambda);
  const missing = sums[offset]!;
  const missingWeight = sums[offset + 1]!;
  let top = Math.max(best.gain, rules.minGain) + parent;
  let found = 0;
  let foundMissing = 0;
  for (let withMissing = 0; withMissing < (missingWeight > 0 ? 2 : 1); withMissing++) {
    let gradient = withMissing ? missing : 0;
    let weight = withMissing ? missingWeight : 0;
    for (let bin = 1, at = offset + 2; bin < bins; bin++, at += 2) {
      const binWeight = sums[at + 1]!;
      if (binWeight === 0) {
        continue;
      }
      gradient += sums[at]!;
      weight += binWeight;
      if (weight < minWeight) {
        continue;
      }
      const rest = totalWeight - weight;
      if (rest < minWeight) {
        break;
      }
      const other = total - gradient;
      const gain = (gradient * gradient) / (weight + lambda) + (other * other) / (rest + lambda);
      if (gain > top) {
        top = gain;
        found = bin;
        foundMissing = missingWeight > 0 ? withMissing : weight * 2 >= totalWeight ? 1 : 0;
      }
    }
  }
  if (found > 0) {
    best.gain = top - parent;
    best.column = column;
    best.bin = found;
    best.missingLeft = foundMissing === 1;
    best.set = undefined;
  }
}

const keys = new Float64Array(256);
const keyWords = new Uint32Array(keys.buffer);
const LOW_WORD = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

/**
 * Puts the categories of a node in order of mean gradient and tries every border in that order, which for one
 * gradient holds the best of all partitions (W. D. Fisher, 1958). Bins unseen at this node follow the heavier side.
 */
export function tryCategories(h: ColumnHistogram, column: number, rules: SplitRules, best: Candidate): void {
  const { sums, offset, bins, totals, width } = h;
  const stride = width + 1;
  let main = 0;
  if (width > 1) {
    main = widest(h);
  }
  let seen = 0;
  for (let bin = 0; bin < bins; bin++) {
    const at = offset + bin * stride;
    const weight = sums[at + width]!;
    if (weight === 0) {
      continue;
    }
    keys[seen] = sums[at + main]! / (weight + rules.categorySmooth);
    const low = seen * 2 + LOW_WORD;
    keyWords[low] = (keyWords[low]! & ~0xff) | bin;
    seen++;
  }
  if (seen < 2) {
    return;
  }
  const order = keys.subarray(0, seen).sort();
  const orderWords = keyWords;
  const lambda = seen > 4 ? rules.lambda + rules.categoryLambda : rules.lambda;
  const parent = score(totals, width, totals[width]! + lambda);
  left.fill(0, 0, width);
  let weight = 0;
  let cut = -1;
  let heavierLeft = false;
  for (let i = 0; i < order.length - 1; i++) {
    const at = offset + (orderWords[i * 2 + LOW_WORD]! & 0xff) * stride;
    for (let d = 0; d < width; d++) {
      left[d]! += sums[at + d]!;
    }
    weight += sums[at + width]!;
    const gain = gainOf(h, weight, parent, rules, lambda);
    if (gain > best.gain && gain > rules.minGain) {
      best.gain = gain;
      cut = i;
      heavierLeft = weight * 2 >= totals[width]!;
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
    const bin = orderWords[i * 2 + LOW_WORD]! & 0xff;
    if (i <= cut) {
      set[bin >> 5]! |= 1 << (bin & 31);
    } else {
      set[bin >> 5]! &= ~(1 << (bin & 31));
    }
  }
  best.column = column;
  best.bin = 0;
  best.missingLeft = (set[0]! & 1) === 1;
  best.set = set;
}

/** The gradient that varies most between the bins, by which categories of several gradients are put in order. */
function widest(h: ColumnHistogram): number {
  const { sums, offset, bins, width } = h;
  let most = -1;
  let main = 0;
  for (let d = 0; d < width; d++) {
    let spread = 0;
    for (let bin = 0; bin < bins; bin++) {
      const at = offset + bin * (width + 1);
      if (sums[at + width]! > 0) {
        spread += (sums[at + d]! * sums[at + d]!) / sums[at + width]!;
      }
    }
    if (spread > most) {
      most = spread;
      main = d;
    }
  }
  return main;
}
