import { bitCount, lowestBit } from '../../math/bits';
import { SHAPLEY_WEIGHTS } from '../shapley/shapley-weights';
import type { LeafWalk } from './leaf-walk';

/** Adds the Shapley values of a leaf with this value to `effects` (per group), summed over the background rows. */
export function addLeafEffects(
  { groups, groupsAt, failed, mask, failedByOther, failedByOtherAt }: LeafWalk,
  value: number,
  effects: Float64Array,
): void {
  const outside = bitCount(failed);
  let lowered = 0;
  for (let rows = mask; rows !== 0; rows &= rows - 1) {
    const own = failedByOther[failedByOtherAt + lowestBit(rows)];
    const count = bitCount(own);
    lowered += value * SHAPLEY_WEIGHTS[outside][count];
    if (own !== 0) {
      const share = value * SHAPLEY_WEIGHTS[count][outside];
      for (let rest = own; rest !== 0; rest &= rest - 1) {
        effects[groups[groupsAt + lowestBit(rest)]] += share;
      }
    }
  }
  for (let rest = failed; rest !== 0; rest &= rest - 1) {
    effects[groups[groupsAt + lowestBit(rest)]] -= lowered;
  }
}
