import type { OpenPrediction } from './open-predictions';
import type { SettledPrediction } from './types';

const MOST = 200;

/** The newest truths with their predictions as they left, for pictures. */
export class SettledPredictions {
  private readonly newest: SettledPrediction[];

  constructor(state: readonly SettledPrediction[] = []) {
    this.newest = [...state];
  }

  add({ key, time, ahead, issued, left }: OpenPrediction, truth: unknown): void {
    this.newest.push({
      ...(key !== null && { key }),
      time: time + (ahead ?? 0),
      truth: truth as SettledPrediction['truth'],
      prediction: 'label' in issued ? issued.label : (left?.middle ?? issued.middle),
      ...(left && { low: left.low, high: left.high }),
    });
    if (this.newest.length > MOST) {
      this.newest.shift();
    }
  }

  /** The oldest first. */
  toJSON(): SettledPrediction[] {
    return [...this.newest];
  }
}
