import type { LossesInTime } from '../types';

/** Share of the windows that stay below the limit. */
const LEVEL = 0.98;
const LEAST_WINDOWS = 8;

/** How far windows of the train set itself rise above their mean: later rows may do the same for days without any change. */
export class TrainWindows {
  private readonly limits = new Map<number, number>();

  constructor(private readonly losses: LossesInTime) {}

  /**
   * The level that one window in fifty exceeds, relative to the mean of all.
   *
   * @param rows per window
   * @returns 1 where there are too few windows
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
