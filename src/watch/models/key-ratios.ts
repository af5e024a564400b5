import type { KeyLoss } from '../../models/cards';
import type { KeyRatio } from '../types';

/** Assumed autocorrelation time of losses: neighbouring rows are alike. */
const AUTOCORRELATION_TIME = 5;

/**
 * The losses of each key relative to the mean of all, shrunk by the share of their variance that chance explains (empirical
 * Bayes): where keys do not differ beyond chance, each ratio is 1.
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
  const chance = part((one) => AUTOCORRELATION_TIME / one.rows);
  const own = Math.max(0, variance - chance);
  return losses.map(({ key, loss, rows: of }) => ({
    ...{ key, rows: of },
    ratio: 1 + ((loss / mean - 1) * own) / Math.max(Number.MIN_VALUE, own + AUTOCORRELATION_TIME / of),
  }));
}
