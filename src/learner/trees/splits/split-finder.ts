import { tryOrderedPair } from './pair-splits';
import type { ColumnHistogram, SplitCandidate, SplitRules } from './splits';

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
  for (let i = 0; i < order.length - 1; i++) {
    const at = offset + (orderWords[i * 2 + LOW_WORD] & 0xff) * stride;
    for (let d = 0; d < width; d++) {
      left[d] += sums[at + d];
    }
    hessian += sums[at + width];
    const gain = gainOf(h, hessian, parent, rules, lambda) - least;
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
