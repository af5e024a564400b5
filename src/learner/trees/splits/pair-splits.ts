import type { ColumnHistogram, SplitCandidate, SplitRules } from './splits';

/** `tryOrdered` for two gradients, to the same bits: sums that stay in registers take half the time. */
export function tryOrderedPair(
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
