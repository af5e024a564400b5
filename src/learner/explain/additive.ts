import type { Conditions } from './compared';

/** A tree is at most 16 levels deep. */
const MOST = 16;

/** SHARES[p][q]: (p - 1)! q! / (p + q)!, what each of p groups gets of a game that needs them all and none of q others. */
const SHARES = Array.from({ length: MOST + 1 }, (_, p) =>
  Float64Array.from({ length: MOST + 1 }, (_, q) => {
    let share = 1 / Math.max(1, p);
    for (let i = 1; i <= q; i++) {
      share *= i / (p + i);
    }
    return share;
  }),
);

/** Adds the Shapley values of a contribution to `effects` (per group), where the answer is a sum of contributions. */
export function addShares(
  value: number,
  { inside, insideCount, outside, outsideCount }: Conditions,
  effects: Float64Array,
): void {
  if (insideCount > 0) {
    const share = value * SHARES[insideCount][outsideCount];
    for (let i = 0; i < insideCount; i++) {
      effects[inside[i]] += share;
    }
  }
  if (outsideCount > 0) {
    const share = value * SHARES[outsideCount][insideCount];
    for (let i = 0; i < outsideCount; i++) {
      effects[outside[i]] -= share;
    }
  }
}
