/** Time features of a date: the trend and the calendar, all in UTC. */
export const DATE_PARTS = ['epoch', 'secondOfDay', 'weekday', 'dayOfMonth', 'month', 'dayOfYear'] as const;

export type DatePart = (typeof DATE_PARTS)[number];

const DAY = 86_400_000;

/** One time feature of `ms` milliseconds since the epoch; NaN for missing dates; for infinite ones too, except the epoch. */
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

/** Days after which a part comes again. The epoch never does. */
const PERIOD_DAYS: Record<DatePart, number> = {
  epoch: Infinity,
  secondOfDay: 1,
  weekday: 7,
  dayOfMonth: 31,
  month: 366,
  dayOfYear: 366,
};
/** Part of the steps that go the same way in a column that tells when each row was. */
const SAME_WAY = 0.99;

/**
 * The parts of a date that rows to come can have in common with these. Where rows follow each other in time, the
 * column that tells when they were goes on rising: trees cannot follow it, and a block held out between two that
 * were learned from does not show that. So of such a column only what came round at least twice is a feature.
 */
export function recurringParts(values: Float64Array): readonly DatePart[] {
  const days = followsRows(values) ? spanOf(values) / DAY : Infinity;
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

function spanOf(values: Float64Array): number {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  return high - low;
}
