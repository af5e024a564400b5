import { show } from '../../table';
import { ServiceError } from '../../wire/service-error';

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1000,
  sec: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
export const HOUR = 3_600_000;
export const DAY = 86_400_000;
/** Ten years: anything longer is a typo. */
const LONGEST = 3653 * DAY;
/** Entries of a list or range: each makes a row of its own, or several columns of every row. */
const MAX_ENTRIES = 200;

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy;

/** Milliseconds of `10m`, `1.5h` or `1h 30m`; undefined for any other text and for durations that are not above 0. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  let ms = 0;
  let end = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(trimmed); part !== null; part = PART.exec(trimmed)) {
    const unit = UNITS[part[2]!];
    if (unit === undefined) {
      return undefined;
    }
    ms += Number(part[1]) * unit;
    end = PART.lastIndex;
  }
  ms = Math.round(ms);
  return end === trimmed.length && ms > 0 && ms <= LONGEST ? ms : undefined;
}

/**
 * Milliseconds of a list of durations and ranges, ascending and without repeats: `1h, 6h`, `1h..24h` (the start is the
 * step), `6h..24h/1h` (steps of 1 h). @throws ServiceError config.invalid that names the field
 */
export function parseDurations(text: string, field: string): number[] {
  const found = new Set<number>();
  for (const entry of text.split(/[,;]/u)) {
    for (const ms of entriesOf(entry, field)) {
      found.add(ms);
    }
    if (found.size > MAX_ENTRIES) {
      throw badField(
        field,
        `${show(text)} names more than ${MAX_ENTRIES} durations. Give fewer, or a longer step.`,
      );
    }
  }
  return [...found].sort((a, b) => a - b);
}

function entriesOf(entry: string, field: string): number[] {
  const range = /^(.+?)\.\.+(.+?)(?:\/(.+))?$/u.exec(entry);
  if (range === null) {
    return [oneDuration(entry, field)];
  }
  const [from, to] = [oneDuration(range[1]!, field), oneDuration(range[2]!, field)];
  const step = range[3] === undefined ? from : oneDuration(range[3], field);
  if (to < from) {
    throw badField(field, `the range ${show(entry.trim())} ends before it begins.`);
  }
  const count = Math.floor((to - from) / step) + 1;
  // One more than allowed is enough for the caller to refuse.
  return Array.from({ length: Math.min(count, MAX_ENTRIES + 1) }, (_, i) => from + i * step);
}

/** @throws ServiceError config.invalid that names the field */
export function oneDuration(text: string, field: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw badField(
      field,
      `${show(text.trim())} is not a duration. Give a number with its unit, such as 30s, 10m, 1h or 7d.`,
    );
  }
  return ms;
}

const SHOWN = [
  ['d', DAY],
  ['h', HOUR],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** A duration in the largest unit that gives a whole number: `10m`, `90m`, `1h`, `1d`. */
export function showDuration(ms: number): string {
  const [unit, size] = SHOWN.find(([, each]) => ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

export function badField(field: string, problem: string): ServiceError {
  return new ServiceError('config.invalid', `${field}: ${problem}`);
}
