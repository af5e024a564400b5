import type { KeptAlarms } from './alarms';
import type { KeptMovedSensors } from './creep';
import type { Period } from './fit';
import { type KeptClock, type KeptHistory, WEEK_MS } from './history';
import type { SensorLayout } from './layout';
import type { UsualModel } from './usual';

/** What is known of a machine by its last fit. */
export interface Knowledge {
  layout: SensorLayout;
  usual: UsualModel;
  /** Rows in all, and the time, when it was fitted. */
  rows: number;
  time: number;
}

/** What a detector is restored from. */
export interface KeptDetector extends KeptOddHistory, KeptClock {
  history: KeptHistory;
  alarms: KeptAlarms;
  knowledge?: Knowledge;
  anchor?: KeptMovedSensors;
  /** The first row of the episode whose surroundings the next fit looks at. */
  aroundEpisode?: number;
}

/**
 * The next fit comes at so many times the rows of the last one, until there are so many rows. A machine that has just begun
 * goes where it has not been within minutes or hours, and each step further is rarer than the one before until it is
 * learned. With 1.25 times, a reading each minute sent 2.4 false alarms in week 1, all on the day when the machine first
 * ran, and 1.4 with 1.1 (simulated machines 8200 to 8204). Measured again by the benches `minutes` and `hour`
 * (docs/benchmarks/anomaly.md).
 */
const GROWTH = 1.1;
/**
 * While an alarm is under way it waits for so many times the rows: a fault is not to become usual before there are as many
 * of its rows as of those before. Chosen among 1.5, 2 and 3 on motors 141 to 144 (docs/benchmarks/anomaly.md).
 */
const ALARMED_GROWTH = 2;
const GROWING_ROWS = 4000;
/** Meanwhile a fit is told of where there are so many times the rows of the last one that was. */
const TOLD_GROWTH = 1.25;
/** Then after so many rows or a week, whichever is first. */
const AGAIN_ROWS = 1000;
/** Where nothing could be learned, it is tried again after so many rows. */
export const RETRY_ROWS = 100;

/** When the next fit is due. */
export class NextFit {
  private isUnderWay = false;
  private notBefore = 0;
  private isWanted = false;
  /** The fit under way is one that was wanted. */
  private isAnswer = false;
  private toldRows = 0;

  /** @param firstRows rows before the first one */
  constructor(private readonly firstRows: number) {}

  /** It is due at once. */
  want(): void {
    this.isWanted = true;
  }

  /** Whether the last one failed. */
  get isRetry(): boolean {
    return this.notBefore > 0;
  }

  /**
   * Whether one is to be made now. It counts as under way until `ended` or `failed`.
   *
   * @param known by the last fit
   * @param rows in all now; @param time of the newest
   * @param now whether the rows cannot wait, and whether an alarm is under way
   */
  claim(
    known: Knowledge | undefined,
    rows: number,
    time: number,
    now: { isUrgent: boolean; isAlarmed: boolean },
  ): boolean {
    const isDue = !this.isUnderWay && rows >= this.notBefore && this.isDue(known, rows, time, now);
    this.isUnderWay ||= isDue;
    return isDue;
  }

  /** What it learns from is taken now. */
  begun(): void {
    this.isAnswer = this.isWanted;
    this.isWanted = false;
  }

  ended(): void {
    this.isUnderWay = false;
  }

  /** Whether the fit that has ended is to be told of: the first hours have too many of them for that. @param rows in all now */
  isToTell(rows: number): boolean {
    const isMore = rows >= TOLD_GROWTH * this.toldRows || rows < this.toldRows;
    const isToTell = this.isAnswer || isMore || rows >= GROWING_ROWS;
    this.toldRows = isToTell ? rows : this.toldRows;
    return isToTell;
  }

  /** It is tried again after some more rows. @param rows in all now */
  failed(rows: number): void {
    this.isUnderWay = false;
    this.notBefore = rows + RETRY_ROWS;
  }

  private isDue(
    known: Knowledge | undefined,
    rows: number,
    time: number,
    { isUrgent, isAlarmed }: { isUrgent: boolean; isAlarmed: boolean },
  ): boolean {
    if (known === undefined) {
      return rows >= this.firstRows;
    }
    if (this.isWanted || isUrgent) {
      return true;
    }
    return rows < GROWING_ROWS
      ? rows >= (isAlarmed ? ALARMED_GROWTH : GROWTH) * known.rows
      : rows - known.rows >= AGAIN_ROWS || time - known.time >= WEEK_MS;
  }
}

/** Faults take at most this share out of the history. */
const MOST_ODD = 0.25;
/** More odd periods than this are how the machine lives, such as each start in the morning. */
const MOST_ODD_PERIODS = 12;

export interface KeptOddHistory {
  odd?: Period[];
  isAsked: boolean;
  /** The rows before this number are asked about. */
  oddUntil?: number;
}

/**
 * The question about odd periods of the history: asked after the first fit, and again after each answer that they were
 * faults, where those had hidden others. On twelve machines with faults in 5 % of their history, 52 periods were asked
 * about at first, of which 50 were faults, and 25 by the questions that followed, of which 21 were
 * (docs/benchmarks/anomaly.md).
 */
export class OddHistory {
  /** Rows by their numbers; undefined where nothing is asked. */
  private periods: Period[] | undefined;
  private isAsked: boolean;
  private until: number | undefined;

  constructor(kept?: KeptOddHistory) {
    this.periods = kept?.odd;
    this.isAsked = kept?.isAsked ?? false;
    this.until = kept?.oddUntil;
  }

  /**
   * Takes what a fit found odd.
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
    // Newer rows are judged one by one, and people answer for their alarms.
    const until = (this.until ??= first + rows);
    const oddRows = odd.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    const kept = odd
      .map(({ from, to }) => ({ from: from + first, to: to + first }))
      .filter(({ from }) => from >= oldest && from < until);
    const isRare = kept.length <= MOST_ODD_PERIODS && oddRows <= MOST_ODD * rows;
    this.periods = kept.length > 0 && isRare ? kept : undefined;
    return this.periods !== undefined;
  }

  /** The periods that people are asked about, of rows that are still kept. */
  asked(oldest: number): Period[] {
    return (this.periods ?? []).filter(({ from }) => from >= oldest);
  }

  /** The question is answered. @returns the periods it was about; undefined where nothing was asked */
  answered(answer: 'usual' | 'faults'): Period[] | undefined {
    const { periods } = this;
    this.periods = undefined;
    this.isAsked = periods === undefined ? this.isAsked : answer === 'usual';
    return periods;
  }

  /** The rows have other numbers now. */
  renumber(numberOf: (row: number) => number): void {
    this.periods = this.periods?.map(({ from, to }) => ({ from: numberOf(from), to: numberOf(to) }));
    this.until = this.until === undefined ? undefined : numberOf(this.until);
  }

  keep(): KeptOddHistory {
    return { odd: this.periods, isAsked: this.isAsked, oddUntil: this.until };
  }
}
