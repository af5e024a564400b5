import { WEEK_MS } from './history';
import { HOLD_ROWS, type Tail, valueOfRarity } from './tail';
import type { OffSensor } from './verdict';

/** The level looks back so far. */
const LOOK_BACK_MS = 4 * WEEK_MS;
/** An episode begins at what is met so many times as often as an alarm. */
const MORE_OFTEN = 10;
/**
 * Sensors that are named within so many rows, the shorter pace, went off together; later ones follow or are others. One of
 * them has a fault of its own once it is off, at one stroke, so many times as far as any was before. With 15 rows instead of
 * 5 fewer faults send a second alarm, 3 of 33 instead of 9, and fewer second faults are told, 15 of 40 instead of 17; 1.5 and
 * 3 times send the same alarms as 2 (docs/benchmarks/anomaly.md, "One event, one alarm").
 */
const TOGETHER_ROWS = 5;
const ANOTHER_FAULT = 2;
/**
 * An alarm need not be rarer than once in so many times the rows that are known: 1,500 readings of 150 s would else ask for what
 * comes once in 6 million, and most doubled vibrations, 30 spreads off, sent none. With 30 and 100 nearly each does, with 300
 * every other one (docs/benchmarks/anomaly.md, "The first hour with a reading a second").
 */
const TIMES_KNOWN = 100;
/** Once in so many rows at most, however many alarms are asked for: an episode that is soon followed by one has no end. */
const MOST_OFTEN = 1 / 200;
/** Episodes that are kept at most: with four weeks of them the largest matter. */
const MOST_EPISODES = 2000;

/** A stretch of unusual rows: one event. */
export interface Episode {
  /** The number of its first row, and of its last one so far beyond the lower level. */
  from: number;
  last: number;
  start: number;
  end: number;
  peak: number;
  /** The sensor in front, which makes a new episode once another has been in front for long. */
  front: string | undefined;
  /** The sensors that were named in its first rows: it stays one event, whichever of them is in front. */
  together?: string[];
  /** The furthest that a sensor was off, in spreads. */
  furthest?: number;
  /** Of the alarm that it sent. */
  id?: string;
  /** What the alarm said: the sensors that were off, how often the like comes, and what was known, in milliseconds. */
  said?: { sensors: OffSensor[]; onceIn: number; knows?: number };
  /** When it sent its alarm. */
  told?: number;
  /** Of the alarm that it goes on from, with another sensor in front. */
  partOf?: string;
  answer?: 'real' | 'usual';
  /** The sensors that were off when people called it usual. */
  calledUsual?: string[];
}

export interface KeptAlarms {
  since: number | undefined;
  open: Episode | undefined;
  past: Episode[];
  /** Once they were measured by a fit that knew two weeks. */
  isMeasured?: boolean;
}

/** A row as it is judged. */
interface TakenRow {
  row: number;
  time: number;
  rarity: number;
  front: string | undefined;
  off?: readonly Pick<OffSensor, 'column' | 'off'>[];
}

/** Rarities at which a row is unusual, and at which an episode begins. */
interface Levels {
  alarm: number;
  episode: number;
}

/**
 * Keeps a promise in alarms a week. A level alone does not: what is rare in the train rows comes more often later. So an
 * alarm must also be among the largest episodes of the last four weeks, as many as were promised.
 */
export class AlarmPromise {
  private levels: Levels = { alarm: Infinity, episode: Infinity };
  private since: number | undefined;
  private open: Episode | undefined;
  private past: Episode[];
  /** A sensor in front that is not that of the episode, for how many rows, and the last of them. */
  private other = { front: undefined as string | undefined, rows: 0, row: -1 };
  private touched: Episode[] = [];
  private isMeasured: boolean;

  /** @param perWeek promised alarms */
  constructor(
    private readonly perWeek: number,
    kept?: KeptAlarms,
  ) {
    this.since = kept?.since;
    this.open = kept?.open;
    this.past = kept?.past ?? [];
    this.isMeasured = kept?.isMeasured ?? false;
  }

  /** Takes the levels of a new fit. @param step usual time between rows, in milliseconds; @param rows that it knows */
  learned(total: Tail, step: number, rows = Infinity): void {
    this.levels = this.computeLevels(total, step, rows);
  }

  /** The levels that a fit asks for. @param step usual time between rows, in milliseconds; @param rows that it knows */
  computeLevels(total: Tail, step: number, rows = Infinity): Levels {
    const perRow = Math.max((this.perWeek * step) / WEEK_MS, 1 / (TIMES_KNOWN * rows));
    const often = Math.min(MORE_OFTEN * perRow, MOST_OFTEN);
    const episode = valueOfRarity(total, -Math.log10(often));
    return { alarm: Math.max(episode, valueOfRarity(total, -Math.log10(perRow))), episode };
  }

  /**
   * Takes the episodes of a history that was learned, so that the promise holds from the first reading on. Only where
   * there was none before, and over a week at least: shorter ones look rarer than they are.
   */
  recall(first: number, times: Float64Array, rarities: Float64Array): void {
    if (this.since !== undefined || times.length === 0 || times.at(-1)! - times[0] < WEEK_MS) {
      return;
    }
    times.forEach((time, i) =>
      this.take({ row: first + i, time, rarity: rarities[i], front: undefined }, () => undefined),
    );
    this.close();
  }

  /**
   * Takes how rare the rows are by the first fit that knows two weeks, and measures the episodes so far by them. What a fit
   * of few rows took for very rare would stand in the way of alarms for four weeks. Only once: measured anew by each fit,
   * the largest of the first two weeks shrink, and three alarms a week were sent there (docs/benchmarks/anomaly.md).
   */
  measureAnew(first: number, rarities: Float64Array): void {
    if (this.isMeasured) {
      return;
    }
    this.isMeasured = true;
    for (const episode of this.past) {
      const [from, end] = [episode.from - first, episode.last + 1 - first];
      if (from >= 0 && end <= rarities.length) {
        episode.peak = Math.max(...rarities.subarray(from, end));
      }
    }
  }

  /** The rarity from which on a row is unusual. */
  get level(): number {
    return this.levels.alarm;
  }

  /** The episode under way. */
  get current(): Episode | undefined {
    return this.open;
  }

  /**
   * @param front the sensor that is furthest off
   * @param off the sensors that are named with it
   * @param named names the episode if it sends an alarm
   * @returns the episode that sends its alarm with this row, one that sent one and is over, all that it changed, and
   * whether the row is like what people called usual
   */
  take(
    { row, time, rarity, front, off = [] }: TakenRow,
    named: (episode: Episode) => string | undefined,
  ): { alarm?: Episode; over?: Episode; touched: readonly Episode[]; isCalledUsual?: boolean } {
    this.since ??= time;
    this.touched = [];
    let over = this.open !== undefined && row - this.open.last > HOLD_ROWS ? this.close() : undefined;
    if (!(rarity > this.levels.episode)) {
      return { over, touched: this.touched };
    }
    let before: Episode | undefined;
    if (this.open !== undefined && this.isAnother(front, row)) {
      before = this.open;
      over = this.close();
    }
    this.open ??= {
      from: row,
      last: row,
      start: time,
      end: time,
      peak: 0,
      front,
      partOf: before?.id ?? before?.partOf,
      ...(before?.answer === 'real' && { answer: before.answer }),
    };
    const { open } = this;
    this.touched.push(open);
    open.last = row;
    open.end = time;
    this.gather(open, row, off);
    const isCalledUsual = this.isCalledUsual(rarity, time, front);
    const isAlarm = open.id === undefined && !isCalledUsual && rarity > this.bar(time);
    open.id ??= isAlarm ? named(open) : undefined;
    open.peak = Math.max(open.peak, rarity);
    return {
      over,
      touched: this.touched,
      isCalledUsual,
      ...(isAlarm && open.id !== undefined && { alarm: open }),
    };
  }

  /** An episode lasted longer than it seemed. @param isUnderWay whether it still does */
  goesOn(
    episode: Episode,
    { to, time, isUnderWay }: { to: number; time: number; isUnderWay: boolean },
  ): void {
    episode.last = to;
    episode.end = time;
    if (isUnderWay && this.open?.id === undefined) {
      this.past = this.past.filter((one) => one !== episode);
      this.open = episode;
    }
  }

  /** Takes an episode as it was before a restart. */
  restore(episode: Episode, isOpen: boolean): void {
    this.since ??= episode.start;
    this.past = this.past.filter(({ from }) => from !== episode.from);
    if (isOpen) {
      this.open = episode;
    } else {
      this.past.push(episode);
      this.open = this.open?.from === episode.from ? undefined : this.open;
    }
  }

  /** Episodes with an alarm, the newest last. */
  get sent(): Episode[] {
    const all = this.open === undefined ? this.past : [...this.past, this.open];
    return all.filter(({ id }) => id !== undefined);
  }

  /** The alarm with this id; without one, the last. */
  find(id: string | undefined): Episode | undefined {
    return this.sent.findLast((episode) => id === undefined || episode.id === id);
  }

  /** The rows have other numbers now. */
  renumber(numberOf: (row: number) => number): void {
    for (const episode of this.open === undefined ? this.past : [...this.past, this.open]) {
      episode.from = numberOf(episode.from);
      episode.last = numberOf(episode.last);
    }
    this.other = { front: undefined, rows: 0, row: -1 };
  }

  /** Takes what people say of an episode. @param off the sensors that are off now */
  answer(episode: Episode, answer: 'real' | 'usual', off: readonly string[]): void {
    episode.answer = answer;
    delete episode.calledUsual;
    if (answer === 'usual') {
      const said = episode.said?.sensors.map(({ column }) => column) ?? [];
      const now = episode === this.open ? off : [];
      episode.calledUsual = [...new Set([episode.front ?? '', ...said, ...now])];
    }
  }

  keep(): KeptAlarms {
    const { since, open, past, isMeasured } = this;
    return { since, open, past, ...(isMeasured && { isMeasured }) };
  }

  /** What an alarm must exceed: the level, and the least of as many episodes as were promised for the weeks looked back. */
  private bar(time: number): number {
    const weeks = Math.min(LOOK_BACK_MS, time - (this.since ?? time)) / WEEK_MS;
    const promised = Math.max(1, Math.floor(this.perWeek * weeks));
    const peaks = this.past
      .filter(({ end, answer }) => end > time - LOOK_BACK_MS && answer !== 'real')
      .map(({ peak }) => peak)
      .sort((a, b) => b - a);
    return Math.max(this.levels.alarm, peaks[promised - 1] ?? 0);
  }

  /**
   * Whether people called it usual: the episode under way, or one of the last weeks that went as far, with this sensor off.
   * It takes days until the fits have learned what they called so.
   */
  private isCalledUsual(rarity: number, time: number, front: string | undefined): boolean {
    return [...this.past, this.open!].some(
      (one) =>
        one.answer === 'usual' &&
        one.calledUsual?.includes(front ?? '') === true &&
        (one === this.open || (rarity <= one.peak && one.end > time - LOOK_BACK_MS)),
    );
  }

  /** Takes the sensors that are off in a row of an episode, the furthest first. */
  private gather(open: Episode, row: number, off: NonNullable<TakenRow['off']>): void {
    const [{ column: front, off: furthest } = { column: undefined, off: 0 }] = off;
    if (furthest > ANOTHER_FAULT * (open.furthest ?? furthest)) {
      open.together = open.together?.filter((column) => column !== front);
    }
    open.furthest = Math.max(open.furthest ?? 0, furthest);
    if (row - open.from < TOGETHER_ROWS) {
      open.together = [...new Set([...(open.together ?? []), ...off.map(({ column }) => column)])];
    }
  }

  /** Whether a sensor has been in front for long that was not off at first. Readings between two rows count once. */
  private isAnother(front: string | undefined, row: number): boolean {
    if (front === this.open?.front || this.open?.together?.includes(front ?? '') === true) {
      this.other.rows = 0;
      return false;
    }
    const rows = front === this.other.front ? this.other.rows : 0;
    this.other = { front, rows: rows + Number(rows === 0 || row !== this.other.row), row };
    return this.other.rows >= HOLD_ROWS;
  }

  private close(): Episode | undefined {
    const { open } = this;
    this.open = undefined;
    this.other = { front: undefined, rows: 0, row: -1 };
    if (open === undefined) {
      return undefined;
    }
    this.touched.push(open);
    this.past.push(open);
    const bound = open.end - LOOK_BACK_MS;
    this.past = this.past.filter(({ end }) => end > bound).slice(-MOST_EPISODES);
    return open.id === undefined ? undefined : open;
  }
}
