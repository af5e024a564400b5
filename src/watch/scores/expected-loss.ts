import type { Issued } from '../predictions/issued';
import { Ring } from '../statistics/ring';

/** How many first predictions give the usual width of a band, and how many newest ones an estimate. */
const CALM = 200;
const NEWEST = 200;
/** Smallest scale of a band, as a share of the usual width. */
const LEAST_SHARE = 0.05;

export interface ExpectedLossState {
  sum: number;
  count: number;
  newest: string;
}

/** What a model's predictions imply by themselves: the usual width of its bands, and the expected loss. */
export class ExpectedLoss {
  private sum: number;
  private count: number;
  private readonly newest: Ring;

  constructor(state?: ExpectedLossState) {
    this.sum = state?.sum ?? 0;
    this.count = state?.count ?? 0;
    this.newest = state === undefined ? new Ring(1, NEWEST) : Ring.fromText(1, NEWEST, state.newest);
  }

  add(issued: Issued): void {
    if (issued.kind === 'band') {
      const width = issued.high - issued.low;
      if (this.count < CALM) {
        this.sum += width;
        this.count++;
      }
      this.newest.push([width]);
    } else if (issued.kind === 'classes') {
      // The expectation of −ln p(truth) if the probabilities are calibrated.
      const entropy = issued.probabilities.reduce((sum, [, p]) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
      this.newest.push([entropy]);
    }
  }

  /** The unit of distances from a band: its width, or a share of the usual width where it has almost none. */
  scaleOf(width: number): number {
    return Math.max(width, this.count === 0 ? 0 : (LEAST_SHARE * this.sum) / this.count);
  }

  /** The expected loss of the newest predictions, where it can be estimated. */
  estimate(promised: number | undefined, isRegression: boolean): number | undefined {
    if (this.newest.size === 0) {
      return undefined;
    }
    const mean = this.newest.field().reduce((sum, value) => sum + value, 0) / this.newest.size;
    if (!isRegression) {
      return mean;
    }
    const calm = this.sum / this.count;
    return promised === undefined || !(calm > 0) ? undefined : (promised * mean) / calm;
  }

  toJSON(): ExpectedLossState {
    return { sum: this.sum, count: this.count, newest: this.newest.toText() };
  }
}
