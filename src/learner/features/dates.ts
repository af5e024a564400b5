/** Time features of a date: the trend and the calendar, all in UTC. */
export const DATE_PARTS = ['epoch', 'secondOfDay', 'weekday', 'dayOfMonth', 'month', 'dayOfYear'] as const;

export type DatePart = (typeof DATE_PARTS)[number];

const DAY = 86_400_000;

/**
 * One time feature of `ms` milliseconds since the epoch. NaN for missing dates, and for infinite ones except for the
 * epoch.
 */
export function datePart(ms: number, part: DatePart): number {
  if (part === 'epoch') {
    return ms;
  }
  if (!Number.isFinite(ms)) {
    return NaN;
  }
  const day = Math.floor(ms / DAY);
  if (part === 'secondOfDay') {
    return Math.floor((ms - day * DAY) / 1000);
  }
  if (part === 'weekday') {
    return (((day + 4) % 7) + 7) % 7;
  }
  const date = new Date(ms);
  if (part === 'dayOfMonth') {
    return date.getUTCDate();
  }
  if (part === 'month') {
    return date.getUTCMonth() + 1;
  }
  return Math.floor((ms - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY) + 1;
}

/** Days after which a part recurs. The epoch never does. */
const PERIOD_DAYS: Record<DatePart, number> = {
  epoch: Infinity,
  secondOfDay: 1,
  weekday: 7,
  dayOfMonth: 31,
  month: 366,
  dayOfYear: 366,
};
/** Fraction of steps in the same direction that marks a column as the time of the rows. */
const SAME_WAY = 0.99;

/**
 * The parts of a date whose values can occur again in future rows. If rows are in order of time, the column with
 * their time keeps rising: trees cannot extrapolate it, and a held-out block between two training blocks does not
 * reveal that. So only parts of such a column that recurred at least twice become features.
 */
export function recurringParts(values: Float64Array): readonly DatePart[] {
  const days = followsRows(values) ? findSpan(values) / DAY : Infinity;
  return days === Infinity ? DATE_PARTS : DATE_PARTS.filter((part) => days >= 2 * PERIOD_DAYS[part]);
}

function followsRows(values: Float64Array): boolean {
  let up = 0;
  let down = 0;
  for (let row = 1; row < values.length; row++) {
    up += values[row] > values[row - 1] ? 1 : 0;
    down += values[row] < values[row - 1] ? 1 : 0;
  }
  return up + down > 0 && Math.max(up, down) >= SAME_WAY * (up + down);
}

function findSpan(values: Float64Array): number {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  return high - low;
}
