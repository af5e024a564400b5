import type { LossesInTime } from '../types';

/** Part of the windows that stay below the limit. */
const LEVEL = 0.98;
const LEAST_WINDOWS = 8;

/** How much a train set's own windows lie above their mean: rows to come may do so too, for days, and nothing has changed. */
export class OwnWindows {
  private readonly limits = new Map<number, number>();

  constructor(private readonly losses: LossesInTime) {}

  /**
   * What one window in fifty is above, by the mean of all.
   *
   * @param rows of a window
   * @returns 1 where too few windows are known
   */
  limit(rows: number): number {
    let limit = this.limits.get(rows);
    if (limit === undefined) {
      limit = limitOf(this.losses.means, Math.max(1, Math.round(rows / this.losses.step)));
      this.limits.set(rows, limit);
    }
    return limit;
  }
}

function limitOf(means: readonly number[], length: number): number {
  if (means.length < LEAST_WINDOWS * length) {
    return 1;
  }
  const sums = [0];
  means.forEach((mean, at) => sums.push(sums[at]! + mean));
  const windows: number[] = [];
  const hop = Math.max(1, Math.floor(length / 4));
  for (let end = length; end <= means.length; end += hop) {
    windows.push((sums[end]! - sums[end - length]!) / length);
  }
  windows.sort((a, b) => a - b);
  const mean = sums.at(-1)! / means.length;
  const limit = windows[Math.ceil(LEVEL * windows.length) - 1]! / mean;
  return limit > 1 ? limit : 1;
}
