import { ServiceError } from '../wire/service-error';
import { HISTORY_ROWS } from './method/history';

/** Weeks in each unit of the promise. */
export const WEEKS = { day: 1 / 7, week: 1, month: 365.25 / 12 / 7 } as const;
/** Readings before the first verdict, if nothing else is said, and at least. */
export const LEARN_ROWS = 300;
const LEAST_LEARNED = 100;

/** @throws ServiceError `config.invalid` */
export function checkOptions(alarms: number, per: string, learn: number): void {
  const problem = !(alarms > 0 && Number.isFinite(alarms))
    ? `alarms must be a number above 0, not ${alarms}`
    : !Object.hasOwn(WEEKS, per)
      ? `per must be "day", "week" or "month", not "${per}"`
      : !(Number.isInteger(learn) && learn >= LEAST_LEARNED && learn <= HISTORY_ROWS)
        ? `learn must be a whole number from ${LEAST_LEARNED} to ${HISTORY_ROWS}, not ${learn}`
        : undefined;
  if (problem !== undefined) {
    throw new ServiceError('config.invalid', `${problem}.`);
  }
}
