import type { Period } from './fit';

/** Faults take at most this share out of the history. */
const MOST_ODD = 0.25;
/** More odd periods than this are how the machine lives, such as each start in the morning. */
const MOST_ODD_PERIODS = 12;

export interface KeptOddHistory {
  odd?: Period[];
  isAsked: boolean;
}

/** The question about odd periods of the history: asked once, after the first fit. */
export class OddHistory {
  /** Rows by their numbers; undefined where nothing is asked. */
  private periods: Period[] | undefined;
  private isAsked: boolean;

  constructor(kept?: KeptOddHistory) {
    this.periods = kept?.odd;
    this.isAsked = kept?.isAsked ?? false;
  }

  /**
   * Takes what the first fit found odd.
   *
   * @param odd in rows of the train set
   * @param first the number of its first row
   * @param rows of the train set
   * @param oldest the number of the oldest row that is still kept
   * @returns whether people are to be asked
   */
  found(odd: readonly Period[], first: number, rows: number, oldest: number): boolean {
    if (this.isAsked) {
      return false;
    }
    this.isAsked = true;
    const oddRows = odd.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    const kept = odd
      .map(({ from, to }) => ({ from: from + first, to: to + first }))
      .filter(({ from }) => from >= oldest);
    const isRare = kept.length <= MOST_ODD_PERIODS && oddRows <= MOST_ODD * rows;
    this.periods = kept.length > 0 && isRare ? kept : undefined;
    return this.periods !== undefined;
  }

  /** The periods that people are asked about, of rows that are still kept. */
  asked(oldest: number): Period[] {
    return (this.periods ?? []).filter(({ from }) => from >= oldest);
  }

  /** The question is answered. @returns the periods it was about; undefined where nothing was asked */
  answered(): Period[] | undefined {
    const { periods } = this;
    this.periods = undefined;
    return periods;
  }

  keep(): KeptOddHistory {
    return { odd: this.periods, isAsked: this.isAsked };
  }
}
