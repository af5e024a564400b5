const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Units of time by their names in Intl and in the catalogue: their milliseconds, and from how many on they are used. */
const UNITS = [
  { unit: 'second', key: 's', size: SECOND, from: 0 },
  { unit: 'minute', key: 'min', size: MINUTE, from: 90 * SECOND },
  { unit: 'hour', key: 'h', size: HOUR, from: 90 * MINUTE },
  { unit: 'day', key: 'days', size: DAY, from: 2 * DAY },
  { unit: 'week', key: 'weeks', size: 7 * DAY, from: 21 * DAY },
  { unit: 'year', key: 'years', size: 365 * DAY, from: 2 * 365 * DAY },
] as const;

/** A time in the unit that people would use, and the decimals that it is told with. @param ms milliseconds */
export function inUsualUnit(ms: number): {
  unit: string;
  key: string;
  value: number;
  decimals: number;
} {
  const { unit, key, size } = UNITS.findLast(({ from }) => ms >= from) ?? UNITS[0];
  const value = ms / size;
  return { unit, key, value, decimals: value < 3 && size > MINUTE ? 1 : 0 };
}
