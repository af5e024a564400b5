import { LEVELS } from '../../metrics/regression';
import { attachedQuantiles, type IssuedBand } from '../predictions/issued';
import type { OpenPrediction } from '../predictions/open-predictions';
import type { WatchNumbers } from '../types';
import { type BandMove, movedBand, movedPrediction } from './moved-band';

/** A prediction as it leaves, what to keep until its truth comes, and how its band was corrected. */
export interface OutgoingPrediction extends Pick<WatchNumbers, 'shift' | 'widen'> {
  leaves: unknown;
  waiting: Pick<OpenPrediction, 'left' | 'scale' | 'nine'>;
}

export function outgoingUnchanged(
  prediction: unknown,
  { middle, low, high }: IssuedBand,
): OutgoingPrediction {
  return { leaves: prediction, waiting: { left: { middle, low, high }, ...nineOf(prediction) } };
}

export function outgoingCorrected(prediction: unknown, band: IssuedBand, move: BandMove): OutgoingPrediction {
  const { middle, low, high } = band;
  const isMoved = move.shift !== 0 || move.widen !== 0;
  const left = isMoved ? movedBand(band, move) : { middle, low, high };
  const leaves = isMoved ? movedPrediction(prediction, band, left) : prediction;
  return {
    leaves,
    waiting: { left, scale: move.scale, ...nineOf(leaves) },
    shift: left.middle - middle,
    ...(high > low && { widen: (left.high - left.low) / (high - low) }),
  };
}

/** The quantiles 0.1 … 0.9, where exactly these nine are predicted. */
function nineOf(prediction: unknown): { nine?: number[] } {
  const quantiles = attachedQuantiles(prediction);
  const isNine =
    quantiles.length === LEVELS.length &&
    quantiles.every(({ level }, k) => Math.abs(level - LEVELS[k]!) < 1e-9);
  return isNine ? { nine: quantiles.map(({ value }) => value) } : {};
}
