import { ArrivalClock } from '../util/arrival-clock';
import { Yielder } from '../util/concurrency';
import { DAY } from '../util/durations';
import { Timeline, Track } from './track';

/** A row with its outcome, as numbers: text as codes, NaN where missing. */
export interface KeptRow {
  key: string | null;
  time: number;
  /** Milliseconds; 0 where there is none. */
  ahead: number;
  row: Float64Array;
  /** A number, or the code of a label. */
  truth: number;
}

/** A row whose outcome a message will bring. */
export interface WaitingRow extends KeptRow {
  /** Whether the row left to be predicted; its outcome leaves only then. Set when it leaves later. */
  hasLeft: boolean;
}

/** How many steps the median step is taken over. */
const STEPS = 64;
/** With fewer steps a machine has no median step. */
const MIN_STEPS = 5;
/** For the values a day and a week before, one reading of the outcome's column is kept per quarter of an hour. */
const HISTORY_STEP = 900_000;
/** How far back they reach. */
export const HISTORY = 28 * DAY;
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
  private readonly arrivals = new ArrivalClock();
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
   *
   * @param isTimed other readings tell their times, so that the newest of them says nothing of our clock
   */
  timeOfArrival(arrival: number, isTimed: boolean): number {
    const { arrivals } = this;
    const time = arrivals.next(arrival, isTimed ? -Infinity : this.newest, this.step);
    arrivals.given = this.firstFree(time);
    return arrivals.given;
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

export interface PastReading {
  key: string | null;
  time: number;
  /** [sensor, number, sensor, number …] */
  cells: number[];
  /** What became of it, where it was taken before. */
  flag?: number;
}

/** The readings that a machine still holds, to be replayed together with those of a table. */
export function heldReadings(machine: Machine): PastReading[] {
  const { clock, key } = machine;
  const held: PastReading[] = [];
  const byTime = new Map<number, PastReading>();
  for (let i = 0; i < clock.size; i++) {
    const reading = { key, time: clock.time(i), cells: [], flag: clock.value(i) };
    held.push(reading);
    byTime.set(reading.time, reading);
  }
  machine.tracks.forEach((track, sensor) => {
    for (let i = 0; i < (track?.line.size ?? 0); i++) {
      const time = track!.line.time(i);
      let reading = byTime.get(time);
      if (reading === undefined) {
        reading = { key, time, cells: [], flag: CAME_LATE };
        held.push(reading);
        byTime.set(time, reading);
      }
      reading.cells.push(sensor, track!.line.value(i));
    }
  });
  return held;
}

/** Rows that are sorted in one go: a few milliseconds. */
const RUN = 4096;

/** A stable merge sort by time that yields to the event loop. */
export async function sortByTime<Timed extends { time: number }>(list: Timed[]): Promise<Timed[]> {
  const yielder = new Yielder();
  let isSorted = true;
  for (let at = 1; at < list.length && isSorted; at++) {
    isSorted = list[at - 1]!.time <= list[at]!.time;
    if (yielder.isDueAt(at)) {
      await yielder.yield();
    }
  }
  if (isSorted) {
    return list;
  }
  let runs: Timed[][] = [];
  for (let from = 0; from < list.length; from += RUN) {
    runs.push(list.slice(from, from + RUN).sort((a, b) => a.time - b.time));
    await yielder.due();
  }
  while (runs.length > 1) {
    const longer: Timed[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merged(runs[at]!, runs[at + 1] ?? [], yielder));
    }
    runs = longer;
  }
  return runs[0]!;
}

/** Merges two sorted lists; at equal times the first list goes first. */
async function merged<Timed extends { time: number }>(
  first: Timed[],
  second: Timed[],
  yielder: Yielder,
): Promise<Timed[]> {
  const all: Timed[] = [];
  let [i, k] = [0, 0];
  while (i < first.length || k < second.length) {
    const takesFirst = k === second.length || (i < first.length && first[i]!.time <= second[k]!.time);
    all.push(takesFirst ? first[i++]! : second[k++]!);
    if (yielder.isDueAt(all.length)) {
      await yielder.yield();
    }
  }
  return all;
}
