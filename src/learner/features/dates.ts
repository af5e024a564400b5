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
