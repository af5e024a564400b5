import { isObject } from '../../util/values';
import { attachedQuantiles, isNumber, type IssuedBand, type MovedBand } from '../predictions/issued';

/** A half band below this share of the width counts as having none. */
const LEAST_HALF = 1e-9;

/** How a band is corrected, in units of `scale`: its width, or a little more where that is close to zero. */
export interface BandMove {
  /** Added to the middle. */
  shift: number;
  /** Added to both ends, outwards; the ends never cross the middle. */
  widen: number;
  scale: number;
}

export function movedBand({ middle, low, high }: IssuedBand, { shift, widen, scale }: BandMove): MovedBand {
  const moved = middle + shift * scale;
  return {
    middle: moved,
    low: Math.min(moved, low + (shift - widen) * scale),
    high: Math.max(moved, high + (shift + widen) * scale),
  };
}

/**
 * A prediction with its band corrected, in the form in which it came: mean, median and mode move with the middle, all other
 * quantiles keep their relative positions within their half of the band.
 */
export function movedPrediction(
  prediction: unknown,
  band: IssuedBand,
  moved: MovedBand,
): Record<string, unknown> {
  const result: Record<string, unknown> = { ...(prediction as object) };
  const isStatistics = isObject(result.quantiles);
  const quantiles = isStatistics ? { ...(result.quantiles as object) } : result;
  for (const { name, level, value } of attachedQuantiles(prediction)) {
    quantiles[name] = movedQuantile(level, value, band, moved);
  }
  if (isStatistics) {
    result.quantiles = quantiles;
    for (const name of ['mean', 'median', 'mode']) {
      const value = result[name];
      if (isNumber(value)) {
        result[name] = value + (moved.middle - band.middle);
      }
    }
  }
  return result;
}

function movedQuantile(level: number, value: number, band: IssuedBand, moved: MovedBand): number {
  const isLow = level < 0.5;
  const [end, movedEnd] = isLow ? [band.low, moved.low] : [band.high, moved.high];
  const half = Math.abs(end - band.middle);
  const width = Math.max(band.high - band.low, moved.high - moved.low);
  if (half > LEAST_HALF * width) {
    return moved.middle + ((value - band.middle) / half) * Math.abs(movedEnd - moved.middle);
  }
  // A half without width: levels within it are spread by level, those beyond keep their distance to its end.
  const share = Math.abs(level - 0.5) / (0.5 - band.level);
  return share < 1 - 1e-9 ? moved.middle + (movedEnd - moved.middle) * share : movedEnd + (value - end);
}
