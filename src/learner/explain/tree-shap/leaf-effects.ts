import { bitCount, lowestBit } from '../../math/bits';
import { SHARES } from '../shapley/shares';
import type { LeafWalk } from './leaf-walk';

/** Adds the Shapley values of a leaf of some value to `effects` (per group), added up over the background's rows. */
export function addLeafEffects(
  { groups, groupsAt, failed, mask, inside, insideAt }: LeafWalk,
  value: number,
  effects: Float64Array,
): void {
  const outside = bitCount(failed);
  let lowered = 0;
  for (let rows = mask; rows !== 0; rows &= rows - 1) {
    const own = inside[insideAt + lowestBit(rows)];
    const count = bitCount(own);
    lowered += value * SHARES[outside][count];
    if (own !== 0) {
      const share = value * SHARES[count][outside];
      for (let rest = own; rest !== 0; rest &= rest - 1) {
        effects[groups[groupsAt + lowestBit(rest)]] += share;
      }
    }
  }
  for (let rest = failed; rest !== 0; rest &= rest - 1) {
    effects[groups[groupsAt + lowestBit(rest)]] -= lowered;
  }
}
