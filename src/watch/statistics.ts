import { TimeZone } from '../table/cells/parse-date';
import { HOUR, WEEK } from '../util/durations';

const GROW_FROM = 32;
const LARGEST = 3.4e38;

/** A ring buffer: the newest entries of a few numbers each, as 32-bit floats; NaN where missing. */
export class Ring {
  private values: Float32Array;
  private begin = 0;
  private count = 0;

  /**
   * @param width numbers per entry
   * @param capacity entries held
   */
  constructor(
    readonly width: number,
    readonly capacity: number,
  ) {
    this.values = new Float32Array(Math.min(GROW_FROM, capacity) * width);
  }

  get size(): number {
    return this.count;
  }

  /** Field `field` of entry `index`; 0 is the oldest. */
  at(index: number, field = 0): number {
    const slots = this.values.length / this.width;
    return this.values[((this.begin + index) % slots) * this.width + field]!;
  }

  /** Adds an entry, overwriting the oldest one when full. */
  push(entry: readonly number[]): void {
    let slots = this.values.length / this.width;
    if (this.count === slots && slots < this.capacity) {
      this.grow(Math.min(this.capacity, 2 * slots));
      slots = this.values.length / this.width;
    }
    if (this.count === slots) {
      this.begin = (this.begin + 1) % slots;
    } else {
      this.count++;
    }
    const place = ((this.begin + this.count - 1) % slots) * this.width;
    for (let field = 0; field < this.width; field++) {
      this.values[place + field] = Math.max(-LARGEST, Math.min(LARGEST, entry[field]!));
    }
  }

  clear(): void {
    this.begin = 0;
    this.count = 0;
  }

  /** One field of all entries, the oldest first. */
  field(field = 0): Float64Array {
    const values = new Float64Array(this.count);
    for (let index = 0; index < values.length; index++) {
      values[index] = this.at(index, field);
    }
    return values;
  }

  /** The entries in base64, the oldest first. */
  toText(): string {
    const bytes = Buffer.alloc(this.count * this.width * 4);
    for (let index = 0, place = 0; index < this.count; index++) {
      for (let field = 0; field < this.width; field++, place += 4) {
        bytes.writeFloatLE(this.at(index, field), place);
      }
    }
    return bytes.toString('base64');
  }

  /** Keeps the newest entries where there are more than the capacity. */
  static fromText(width: number, capacity: number, text: string): Ring {
    const bytes = Buffer.from(text, 'base64');
    const entries = Math.floor(bytes.length / 4 / width);
    const ring = new Ring(width, capacity);
    const entry = new Array<number>(width);
    for (let index = Math.max(0, entries - capacity); index < entries; index++) {
      for (let field = 0; field < width; field++) {
        entry[field] = bytes.readFloatLE((index * width + field) * 4);
      }
      ring.push(entry);
    }
    return ring;
  }

  private grow(slots: number): void {
    const grown = new Float32Array(slots * this.width);
    for (let index = 0; index < this.count; index++) {
      for (let field = 0; field < this.width; field++) {
        grown[index * this.width + field] = this.at(index, field);
      }
    }
    this.values = grown;
    this.begin = 0;
  }
}

/** Smaller autocorrelations count as chance. */
const LEAST_CORRELATION = 0.05;

/**
 * The integrated autocorrelation time of a sequence: how many of its values carry as much information as one independent
 * value, so that n values have an effective sample size of n divided by it. 1 + 2 Σ ρ(lag), truncated at the first lag
 * whose autocorrelation is negligible (cf. C. J. Geyer, Practical Markov chain Monte Carlo, 1992).
 */
export function autocorrelationTime(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const rest = values.map((value) => value - mean);
  const products = (lag: number): number => {
    let sum = 0;
    for (let i = lag; i < rest.length; i++) {
      sum += rest[i]! * rest[i - lag]!;
    }
    return sum;
  };
  const square = products(0);
  let time = 1;
  for (let lag = 1; square > 0 && lag < values.length / 4; lag++) {
    const correlation = products(lag) / square;
    if (correlation < LEAST_CORRELATION) {
      break;
    }
    time += 2 * correlation;
  }
  return time;
}

/**
 * The same, as the median over blocks counted back from the newest value: a shift in level between blocks must not pass
 * for correlation. 1 where there is no complete block.
 */
export function autocorrelationTimeInBlocks(values: Float64Array, block: number): number {
  const each: number[] = [];
  for (let end = values.length; end >= block; end -= block) {
    each.push(autocorrelationTime(values.subarray(end - block, end)));
  }
  return each.sort((a, b) => a - b)[each.length >> 1] ?? 1;
}

/** Hours per cell, and cells per day and per week. */
const HOURS = 3;
const PER_DAY = 24 / HOURS;
const CELLS = 7 * PER_DAY;
/** How many complete weeks are kept, and how many it takes for a pattern. */
const MOST_WEEKS = 8;
const LEAST_WEEKS = 2;
/** A week is complete with this share of the fullest week's cells: a line may stand still at weekends. */
const WHOLE = 0.8;
/** Weight of the chance variance in the shrinkage. */
const SURE = 1;

/** The zone of states of earlier versions, whose cells were in UTC. */
const FORMER_ZONE = 'UTC';

export interface WeeklyPatternState {
  /** IANA name of the zone by whose clocks the cells are told; left out in states of earlier versions. */
  zone?: string;
  /** Time from which weeks are counted, milliseconds since 1970. */
  start?: number;
  /** In order of time; the last one need not be whole. */
  weeks: { number: number; sums: number[]; counts: number[] }[];
}

/**
 * How far losses usually lie above or below their mean at a time of the week: weekends may be harder than other days. The
 * pattern is what weeks have in common, so it is 0 until two complete weeks are known, and stays 0 where they do not agree.
 * Day effects, time-of-day effects and the remainder are each shrunk by the share of variance that chance explains
 * (empirical Bayes). Times are local: a shift begins at six o'clock in summer and in winter.
 */
export class WeeklyPattern {
  private start: number | undefined;
  private readonly weeks: WeeklyPatternState['weeks'];
  private cells: Float64Array | undefined;
  private readonly zone: TimeZone;

  /** @param zoneName IANA name @param state from another zone it is shifted by whole cells */
  constructor(
    private readonly zoneName: string,
    state?: WeeklyPatternState,
  ) {
    this.zone = TimeZone.of(zoneName);
    this.start = state?.start;
    const former = TimeZone.of(state?.zone ?? FORMER_ZONE);
    this.weeks =
      state?.weeks.map(({ number, sums, counts }) => {
        const time = (state.start ?? 0) + number * WEEK;
        const by = cellsBetween(this.zone.toLocal(time) - former.toLocal(time));
        return { number, sums: moved(sums, by), counts: moved(counts, by) };
      }) ?? [];
  }

  /** @param loss in any unit that is stable for a week or so @param time milliseconds since 1970 */
  add(loss: number, time: number): void {
    this.start ??= time;
    const number = Math.floor((time - this.start) / WEEK);
    let week = this.weeks.find((one) => one.number === number);
    if (week === undefined) {
      week = { number, sums: new Array<number>(CELLS).fill(0), counts: new Array<number>(CELLS).fill(0) };
      this.weeks.push(week);
      // A single wrong time must not displace everything.
      this.weeks.sort((one, other) => one.number - other.number);
      this.weeks.splice(0, this.weeks.length - MOST_WEEKS - 1);
      this.cells = undefined;
    } else if (week !== this.weeks.at(-1)) {
      this.cells = undefined;
    }
    const cell = this.cellAt(time);
    week.sums[cell]! += loss;
    week.counts[cell]!++;
  }

  /** The cell of the week at a time, 0 to 55. @param time milliseconds since 1970 */
  cellAt(time: number): number {
    const local = this.zone.toLocal(time);
    return Math.floor((((local % WEEK) + WEEK) % WEEK) / (HOURS * HOUR));
  }

  /** What to add in a cell, as a share of the mean loss, see `cellAt`; 0 for NaN. */
  of(cell: number): number {
    this.cells ??= computePattern(this.wholeWeeks());
    return this.cells[cell] ?? 0;
  }

  /** The same for the highest cell. */
  get most(): number {
    this.cells ??= computePattern(this.wholeWeeks());
    return Math.max(...this.cells);
  }

  toJSON(): WeeklyPatternState {
    return {
      zone: this.zoneName,
      ...(this.start !== undefined && { start: this.start }),
      weeks: this.weeks.map(({ number, sums, counts }) => ({
        number,
        sums: [...sums],
        counts: [...counts],
      })),
    };
  }

  /** For each complete week: the mean loss per cell relative to that of the week, less 1; NaN for empty cells. */
  private wholeWeeks(): Float64Array[] {
    const before = this.weeks.slice(0, -1);
    const filled = (counts: readonly number[]): number => counts.filter((count) => count > 0).length;
    const fullest = Math.max(0, ...before.map(({ counts }) => filled(counts)));
    return before
      .filter(({ counts }) => filled(counts) >= WHOLE * fullest)
      .map(({ sums, counts }) => {
        const means = Float64Array.from(sums, (sum, cell) => sum / counts[cell]!);
        const mean = computeMean(means);
        return means.map((own) => (mean > 0 ? own / mean - 1 : NaN));
      });
  }
}

/** A difference in milliseconds, rounded to whole cells symmetrically about 0. */
function cellsBetween(difference: number): number {
  return Math.sign(difference) * Math.round(Math.abs(difference) / (HOURS * HOUR));
}

/** Cells of a week, rotated to be this many later. */
function moved(cells: readonly number[], by: number): number[] {
  return cells.map((_, cell) => cells[(cell - by + CELLS) % CELLS]!);
}

/** How cells are taken together, coarsest first: by day, by time of day, each by itself. */
const GROUPINGS: readonly { groups: number; of: (cell: number) => number }[] = [
  { groups: 7, of: (cell) => Math.floor(cell / PER_DAY) },
  { groups: PER_DAY, of: (cell) => cell % PER_DAY },
  { groups: CELLS, of: (cell) => cell },
];

function computePattern(weeks: readonly Float64Array[]): Float64Array {
  const pattern = new Float64Array(CELLS);
  if (weeks.length < LEAST_WEEKS) {
    return pattern;
  }
  const rest = weeks.map((week) => week.slice());
  for (const { groups, of } of GROUPINGS) {
    const effects = commonEffects(rest.map((week) => groupMeans(week, groups, of)));
    for (let cell = 0; cell < CELLS; cell++) {
      const effect = effects[of(cell)]!;
      rest.forEach((week) => (week[cell]! -= effect));
      pattern[cell]! += effect;
    }
  }
  return pattern;
}

function groupMeans(week: Float64Array, groups: number, groupOf: (cell: number) => number): Float64Array {
  const sums = new Float64Array(groups);
  const counts = new Float64Array(groups);
  for (let cell = 0; cell < CELLS; cell++) {
    const value = week[cell]!;
    if (!Number.isNaN(value)) {
      sums[groupOf(cell)]! += value;
      counts[groupOf(cell)]!++;
    }
  }
  return sums.map((sum, group) => sum / counts[group]!);
}

/**
 * The mean of the weeks, shrunk by the part of its variance that is chance: what weeks have in common is the covariance of
 * each two of them. Zeros where they have nothing in common for sure.
 */
function commonEffects(weeks: readonly Float64Array[]): Float64Array {
  const groups = weeks[0]!.length;
  let [products, pairs, squares, values] = [0, 0, 0, 0];
  for (let at = 0; at < weeks.length; at++) {
    const week = weeks[at]!;
    for (let group = 0; group < groups; group++) {
      if (!Number.isNaN(week[group]!)) {
        squares += week[group]! ** 2;
        values++;
      }
    }
    for (let later = at + 1; later < weeks.length; later++) {
      for (let group = 0; group < groups; group++) {
        const product = week[group]! * weeks[later]![group]!;
        if (!Number.isNaN(product)) {
          products += product;
          pairs++;
        }
      }
    }
  }
  const [common, all] = [products / pairs, squares / values];
  if (!(common > (SURE * all) / Math.sqrt(pairs))) {
    return new Float64Array(groups);
  }
  const chance = Math.max(0, all - common) / weeks.length;
  return Float64Array.from({ length: groups }, (_, group) => {
    const mean = computeMean(weeks.map((week) => week[group]!));
    return Number.isNaN(mean) ? 0 : (mean * common) / (common + chance);
  });
}

/** Of the values that are there; NaN where none is. */
function computeMean(values: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  for (let at = 0; at < values.length; at++) {
    if (!Number.isNaN(values[at]!)) {
      sum += values[at]!;
      count++;
    }
  }
  return sum / count;
}
