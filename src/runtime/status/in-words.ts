/* What the sidebar says as a status does. It is joined into a script of the browser: nothing of Node.js may come in here. */

import { DAY, HOUR, WEEK } from '../../util/durations';

/** The most that a status takes, in columns: more runs into the nodes beside it. */
export const STATUS_WIDTH = 30;

/** How wide a text is: a character of Chinese, Japanese or Korean takes two columns. */
export function widthOfText(text: string): number {
  return (
    text.length +
    (text.match(/[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/gu)?.length ?? 0)
  );
}

/** Where one label is so frequent, its share is near to the accuracy of any model. */
export const RARE_FROM = 0.9;

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Units of time by their names in Intl and in the catalogue: their milliseconds, and from how many on they are used. */
const UNITS = [
  { unit: 'second', key: 's', size: SECOND, from: 0 },
  { unit: 'minute', key: 'min', size: MINUTE, from: 90 * SECOND },
  { unit: 'hour', key: 'h', size: HOUR, from: 90 * MINUTE },
  { unit: 'day', key: 'days', size: DAY, from: 2 * DAY },
  { unit: 'week', key: 'weeks', size: WEEK, from: 21 * DAY },
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
