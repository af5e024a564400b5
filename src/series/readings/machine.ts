import type { KeptRow } from '../kept-row';
import { Timeline } from './timeline';
import { Track } from './track';

/** How many steps the median step is taken over. */
const STEPS = 64;
/** With fewer steps a machine has no median step. */
const MIN_STEPS = 5;
/** For the values a day and a week before, one reading of the outcome's column is kept per quarter of an hour. */
const HISTORY_STEP = 900_000;
/** How far back they reach. */
export const HISTORY = 28 * 86_400_000;
/** In-order readings between two rounds of housekeeping. */
const HOUSEKEEPING = 32;

/** What the clock of a machine says of a reading: it came late; its row left; it gave a row that did not leave. */
export const CAME_LATE = 0;
export const ROW_LEFT = 1;
export const ROW_STAYED = 2;

/** One machine: its readings as far back as rows need them, and how far its outcomes have come. */
export class Machine {
  /** The times of its readings, and what became of each: CAME_LATE, ROW_LEFT or ROW_STAYED. */
  readonly clock = new Timeline();
  /** By sensor index. */
  readonly tracks: (Track | undefined)[] = [];
  /** Four weeks of the outcome's column. */
  readonly history = new Timeline();
  /** For events: times at which the condition held (1), or turned out not to after a reading was replaced (0). */
  readonly hits = new Timeline();
  /** For events: readings that were followed by a gap, at least at some point. */
  readonly silences = new Timeline();
  /** By ahead: the time up to which rows have been released; -Infinity: none. */
  readonly released: number[];
  /** By ahead: the time up to which it is decided which rows are kept. */
  readonly keptUntil: number[];
  /** Readings before this time are too late. Monotonic. */
  watermark = -Infinity;
  /** By ahead: rows with an outcome that a late reading may still change. */
  readonly unsettled: KeptRow[][];
  /** By time: the part of a row that does not depend on the ahead, cached. */
  readonly bases = new Map<number, Float64Array>();
  /** Median milliseconds between two readings; NaN while unknown. */
  step = NaN;
  /** How long after its time the last reading arrived that told one, in milliseconds; NaN while unknown. */
  delay = NaN;
  /** The last time given to a reading that told none. */
  private given = -Infinity;
  /** Readings before this time may be forgotten. */
  heldFrom = -Infinity;
  /** Numbers held. */
  numbers = 0;
  private sinceHousekeeping = 0;

  constructor(
    readonly key: string | null,
    aheads: number,
    private readonly longest: number,
  ) {
    this.released = new Array<number>(aheads).fill(-Infinity);
    this.keptUntil = new Array<number>(aheads).fill(-Infinity);
    this.unsettled = Array.from({ length: aheads }, () => []);
  }

  /** Time of the newest reading. */
  get newest(): number {
    return this.clock.lastTime;
  }

  track(sensor: number): Track {
    return (this.tracks[sensor] ??= new Track(this.longest));
  }

  /**
   * The time of a reading that tells none: that of its arrival, or the next millisecond that is free. Several may arrive in
   * one millisecond, and none replaces another.
   */
  timeOfArrival(arrival: number): number {
    this.given = this.firstFree(Math.max(arrival, this.given + 1));
    return this.given;
  }

  /** The first time from this one on that no reading has. */
  firstFree(time: number): number {
    const { clock } = this;
    let free = time;
    for (let i = clock.countUntil(time) - 1; i >= 0 && i < clock.size && clock.time(i) === free; i++) {
      free++;
    }
    return free;
  }

  /** Keeps the first reading of each quarter of an hour. */
  putHistory(time: number, value: number): void {
    const { history } = this;
    const count = history.countUntil(time);
    const quarter = Math.floor(time / HISTORY_STEP);
    const before = count > 0 ? history.time(count - 1) : -Infinity;
    if (before !== time && Math.floor(before / HISTORY_STEP) === quarter) {
      return;
    }
    const next = count < history.size ? history.time(count) : Infinity;
    if (Math.floor(next / HISTORY_STEP) === quarter) {
      history.remove(count);
    }
    history.put(time, value);
  }

  /** Whether `tidy` is due. */
  get isTidyDue(): boolean {
    return ++this.sinceHousekeeping >= (this.clock.size < HOUSEKEEPING ? 1 : HOUSEKEEPING);
  }

  /** Updates the median step, and forgets what no row at `time` or later needs. */
  tidy(time: number): void {
    this.sinceHousekeeping = 0;
    this.step = medianStep(this.clock, this.clock.size);
    if (time > -Infinity) {
      this.heldFrom = Math.max(this.heldFrom, time - this.longest);
      for (const track of this.tracks) {
        track?.prune(time);
      }
      for (const line of [this.clock, this.hits, this.silences]) {
        line.drop(line.countUntil(time) - 1 - STEPS);
      }
      this.history.drop(this.history.countUntil(time - HISTORY - 2 * HISTORY_STEP) - 1);
    }
    this.count();
  }

  /** A lower bound on how many numbers `tidy` would forget. */
  forgettable(time: number): number {
    return this.tracks.reduce((sum, track) => sum + (track?.forgettable(time) ?? 0), 0);
  }

  count(): void {
    let numbers = this.clock.size + this.history.size + this.hits.size;
    for (const track of this.tracks) {
      numbers += track?.numbers ?? 0;
    }
    this.numbers = numbers;
  }
}

/** The median of the last steps before a reading; NaN where there are too few. */
export function medianStep(clock: Timeline, count: number): number {
  const from = Math.max(1, count - STEPS);
  if (count - from < MIN_STEPS) {
    return NaN;
  }
  const steps = new Float64Array(count - from);
  for (let i = from; i < count; i++) {
    steps[i - from] = clock.time(i) - clock.time(i - 1);
  }
  steps.sort();
  return steps[steps.length >> 1]!;
}
