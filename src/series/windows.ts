import { TimeZone } from '../table/cells/parse-date';
import { DAY, HOUR } from '../util/durations';
import { Moments, type Track } from './track';

/** Cells of a number column: now; change, mean and spread per window; lowest and highest of the longest. */
export function numberCells(windows: readonly number[]): number {
  return 3 + 3 * windows.length;
}

/** Cells of a column of text or truth values: now, how long it has been so, changes in the longest window. */
export const STATE_CELLS = 3;

/** Decimals that a sensor may have; what has more is no decimal number but a mean or a number of 32 bits. */
const MOST_DECIMALS = 9;
/** Above it, a binary number does not tell its decimals. */
const LARGEST = 2 ** 50;
/** Digits of the larger of two numbers that their difference rests on; what is below is noise of binary fractions. */
const DIGITS = 12;
/** Digits of a mean or a spread: one more than a sensor of 16 bits tells apart. */
const OF_MEANS = 6;

/** How the numbers of a row are computed and written. */
export interface Arithmetic {
  /** a − b */
  less: (a: number, b: number) => number;
  /** A mean, or another value that no sensor has told. */
  mean: (value: number) => number;
}

/** To the last bit, as rows were before they were written for people. */
export const EXACT: Arithmetic = { less: (a, b) => a - b, mean: (value) => value };

/** Differences as decimal numbers, means of as many digits as tell something. */
export const LEGIBLE: Arithmetic = {
  less: difference,
  mean: (value) => (value === 0 ? 0 : roundedAt(value, OF_MEANS, value)),
};

/**
 * a − b as the decimal numbers that both are, so that 18.28 − 20.1 is −1.82 and not −1.8200000000000003. Where one of them
 * has no few decimals, it is rounded to twelve digits of the larger.
 */
export function difference(a: number, b: number): number {
  for (let decimals = 0, power = 1; decimals <= MOST_DECIMALS; decimals++, power *= 10) {
    const [ofA, ofB] = [Math.round(a * power), Math.round(b * power)];
    if (!(Math.abs(ofA) < LARGEST && Math.abs(ofB) < LARGEST)) {
      break;
    }
    if (ofA / power === a && ofB / power === b) {
      return (ofA - ofB) / power;
    }
  }
  return roundedAt(a - b, DIGITS, Math.max(Math.abs(a), Math.abs(b)));
}

/** A value rounded to so many digits of a number of this size. */
function roundedAt(value: number, digits: number, size: number): number {
  const power = 10 ** (digits - Math.ceil(Math.log10(Math.abs(size))));
  const rounded = power >= 1 ? Math.round(value * power) / power : Math.round(value);
  // Of huge numbers and of tiny ones there is no such power.
  return Number.isFinite(rounded) ? rounded : value;
}

/**
 * Writes the cells of a number column: its value now; per window the change, the time-weighted mean less now and the
 * spread (time-weighted standard deviation); lowest and highest of the longest window, less now. A value holds until the
 * next reading. NaN for a window that begins before the first reading or contains a gap longer than itself.
 *
 * @param out numberCells(windows) cells, or more, that are NaN
 */
export function describeNumber(
  track: Track,
  time: number,
  out: Float64Array,
  { windows, less, mean }: Arithmetic & { windows: readonly number[] },
): void {
  const { line } = track;
  const count = line.countUntil(time);
  const longest = windows.at(-1)!;
  if (count === 0 || time - line.time(count - 1) > longest) {
    return;
  }
  const now = line.value(count - 1);
  out[0] = now;
  const moments = new Moments();
  let window = 0;
  let edge = time - windows[0]!;
  /** Completes the windows that begin within a value or block spanning `start` to `end`. @returns whether all are */
  const endWindows = (start: number, end: number, gap: number, value: number): boolean => {
    for (; start <= edge; edge = time - windows[window]!) {
      const length = windows[window]!;
      const cell = 1 + 3 * window;
      window++;
      if (gap <= length) {
        const part = moments.copy();
        part.addValue(end - edge, value);
        out[cell] = less(now, value);
        out[cell + 1] = mean(less(part.mean, now));
        out[cell + 2] = mean(Math.sqrt(Math.max(0, part.m2) / length));
        if (window === windows.length) {
          out[1 + 3 * windows.length] = less(part.low, now);
          out[2 + 3 * windows.length] = less(part.high, now);
        }
      }
      if (window === windows.length) {
        return true;
      }
    }
    return false;
  };
  const border = track.rawFrom(count);
  let end = time;
  // The busiest loop of a series: whether a window ends is asked here, since few values end one.
  for (let i = count - 1; i >= 0; i--) {
    const start = line.time(i);
    if (start < border) {
      break;
    }
    const value = line.value(i);
    if (start <= edge && endWindows(start, end, end - start, value)) {
      return;
    }
    moments.addValue(end - start, value);
    end = start;
  }
  if (border === -Infinity) {
    return;
  }
  track.buildUntil(border);
  for (let i = blockBefore(track, border); i >= 0; i--) {
    const block = track.blocks[i]!;
    const { start, end, gap } = block;
    if (start <= edge && endWindows(start, end, gap, block.mean)) {
      return;
    }
    moments.addBlock(end - start, block);
  }
}

/**
 * Writes the cells of a state, that is text or truth values: its code now, for how many seconds it has held (at most the
 * longest window), and how often it changed in the longest window.
 *
 * @param out STATE_CELLS cells, or more, that are NaN
 */
export function describeState(track: Track, time: number, out: Float64Array, longest: number): void {
  const { line } = track;
  const count = line.countUntil(time);
  if (count === 0 || time - line.time(count - 1) > longest) {
    return;
  }
  const now = line.value(count - 1);
  const edge = time - longest;
  let since = NaN;
  let changes = 0;
  let next = now;
  let from = line.time(count - 1);
  const border = track.rawFrom(count);
  /** Goes back to what began at `start`, with its first value and its last. */
  const step = (first: number, last: number, start: number): void => {
    if (last !== next) {
      changes++;
      since = Number.isNaN(since) ? from : since;
    }
    next = first;
    from = start;
  };
  let reached = false;
  for (let i = count - 2; i >= 0 && line.time(i) >= border && !reached; i--) {
    // A change counts if the reading that brought it lies within the window.
    reached = from <= edge;
    if (!reached) {
      step(line.value(i), line.value(i), line.time(i));
    }
  }
  if (border !== -Infinity && !reached) {
    track.buildUntil(border);
    for (let i = blockBefore(track, border); i >= 0 && from > edge; i--) {
      const { first, last, start, changes: inner, changed } = track.blocks[i]!;
      if (inner > 0 && last === next && Number.isNaN(since)) {
        since = changed;
      }
      changes += inner;
      step(first, last, start);
    }
  }
  out[0] = now;
  out[1] = Math.min(time - (Number.isNaN(since) ? from : since), longest) / 1000;
  out[2] = changes;
}

/** Index of the last block before a border; later blocks may have been built for a later row. */
function blockBefore({ blocks }: Track, border: number): number {
  let i = blocks.length - 1;
  while (i >= 0 && blocks[i]!.start >= border) {
    i--;
  }
  return i;
}

/** Values further from the median than this many median absolute deviations are outliers. */
const OUTLIER = 4;

/**
 * The mean without outliers, such as a holiday among weekdays, which would distort a plain mean for as many weeks as it
 * looks back. Outliers are told by the median absolute deviation.
 */
export function meanWithoutOutliers(values: readonly number[]): number {
  const middle = computeMedian(values);
  const limit = OUTLIER * computeMedian(values.map((value) => Math.abs(value - middle)));
  const near = values.filter((value) => Math.abs(value - middle) <= limit);
  return near.reduce((sum, value) => sum + value, 0) / near.length;
}

/** For an even number of values, the mean of the middle two. */
function computeMedian(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const CALENDAR_COLUMNS = ['hour', 'weekday', 'month'] as const;

/** Local calendar of a time zone, correct across daylight saving changes. */
export class Calendar {
  private readonly zone: TimeZone;

  /** @param zone IANA name */
  constructor(zone: string) {
    this.zone = TimeZone.of(zone);
  }

  /** Writes hour (0 to 24, with minutes as its fraction), weekday (Monday 1 to Sunday 7) and month (1 to 12). */
  write(instant: number, out: Float64Array, at: number): void {
    const local = this.zone.toLocal(instant);
    const day = Math.floor(local / DAY);
    out[at] = (local - day * DAY) / HOUR;
    // 1970 began on a Thursday.
    out[at + 1] = ((((day + 3) % 7) + 7) % 7) + 1;
    out[at + 2] = new Date(local).getUTCMonth() + 1;
  }

  /** The same time of day some days before, by the clocks of the zone. */
  daysBefore(instant: number, days: number): number {
    return this.zone.toInstant(this.zone.toLocal(instant) - days * DAY);
  }
}
