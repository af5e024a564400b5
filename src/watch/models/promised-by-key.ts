import type { KeyLoss } from '../../scoring/reference/types';
import type { KeyRatio } from '../types';

/** Losses of neighbouring rows are alike: so many say as much as one would if they were independent. */
const ALIKE = 5;

/**
 * By how much the losses of each key lie above or below the mean of all, shrunk by the part of their variance that chance
 * explains (empirical Bayes): of keys that are all alike each is 1.
 */
export function keyRatios(losses: readonly KeyLoss[]): KeyRatio[] {
  const rows = losses.reduce((sum, one) => sum + one.rows, 0);
  const mean = losses.reduce((sum, one) => sum + (one.loss * one.rows) / rows, 0);
  if (losses.length < 2 || !(mean > 0)) {
    return [];
  }
  const part = (of: (one: KeyLoss) => number): number =>
    losses.reduce((sum, one) => sum + (of(one) * one.rows) / rows, 0);
  const variance = part(({ loss }) => (loss / mean - 1) ** 2);
  const chance = part((one) => ALIKE / one.rows);
  const own = Math.max(0, variance - chance);
  return losses.map(({ key, loss, rows: of }) => ({
    ...{ key, rows: of },
    ratio: 1 + ((loss / mean - 1) * own) / Math.max(Number.MIN_VALUE, own + ALIKE / of),
  }));
}
