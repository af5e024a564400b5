import type { Random } from '../math/random';
import { FINER_BINS } from '../tuned';
import { findBin, findBorders } from './binning';

/**
 * Redistributes the borders of a column, without adding any: closer together in the bins next to which trees split
 * most, further apart elsewhere. Otherwise a rule such as "above 6.05" is resolved only to the width of a bin, which
 * holds dozens of rows when there are thousands.
 *
 * @param splits how often trees split after each bin
 * @param maxBins most bins of a column
 * @returns undefined if splits are spread out, or if each value has its own bin already
 */
export function finerBorders(
  values: Float64Array,
  borders: Float64Array,
  splits: ArrayLike<number>,
  maxBins: number,
  random: Random,
): Float64Array | undefined {
  const asked = busiestBins(splits);
  const within = valuesWithin(values, borders, new Set(asked));
  const kept = new Set<number>();
  let finer = 0;
  for (const bin of asked) {
    const distinct = Float64Array.from(within.get(bin) ?? []);
    const own = spread(findBorders(distinct, random, distinct.length), FINER_BINS.inBin);
    if (own.length === 0 || finer + own.length > FINER_BINS.moved) {
      continue;
    }
    finer += own.length;
    // The ends of the bin stay.
    for (const border of [...own, ...borders.subarray(Math.max(0, bin - 2), bin)]) {
      kept.add(border);
    }
  }
  if (finer === 0) {
    return undefined;
  }
  for (const border of worthKeeping(borders, splits, maxBins - 1 - kept.size)) {
    kept.add(border);
  }
  return Float64Array.from(kept).sort();
}

/** Thins out borders: keeps those that trees split on and their neighbours first, then others evenly. */
function worthKeeping(borders: Float64Array, splits: ArrayLike<number>, room: number): Float64Array {
  if (borders.length <= room) {
    return borders;
  }
  // The border above bin `b` has index `b - 1`.
  const isUsed = (at: number) => splits[at + 1] > 0;
  const used = borders.filter((_, at) => isUsed(at));
  const near = borders.filter((_, at) => !isUsed(at) && (isUsed(at - 1) || isUsed(at + 1)));
  const others = borders.filter((_, at) => !isUsed(at) && !isUsed(at - 1) && !isUsed(at + 1));
  const out = [...spread(used, room)];
  out.push(...spread(near, room - out.length));
  out.push(...spread(others, room - out.length));
  return Float64Array.from(out);
}

/** The bins next to which trees split most, by number of splits. */
function busiestBins(splits: ArrayLike<number>): number[] {
  const total = Array.from(splits).reduce((sum, count) => sum + count, 0);
  const beside = (bin: number) => splits[bin - 1] + splits[bin];
  return Array.from({ length: splits.length }, (_, bin) => bin)
    .filter((bin) => bin > 0 && beside(bin) >= Math.max(FINER_BINS.splits, FINER_BINS.share * total))
    .sort((a, b) => beside(b) - beside(a) || a - b);
}

/** The values within each of some bins. */
function valuesWithin(
  values: Float64Array,
  borders: Float64Array,
  bins: ReadonlySet<number>,
): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const value of bins.size > 0 ? values : []) {
    const bin = Number.isFinite(value) ? findBin(value, borders) : 0;
    if (bins.has(bin)) {
      found.set(bin, (found.get(bin) ?? new Set()).add(value));
    }
  }
  return found;
}

/** At most this many elements of a list, evenly spaced. */
function spread(list: Float64Array, most: number): Float64Array {
  return list.length <= most
    ? list
    : Float64Array.from({ length: most }, (_, i) => list[Math.floor(((i + 0.5) * list.length) / most)]);
}
