import { ServiceError } from '../wire/service-error';
import { HISTORY_ROWS } from './method/history';
import type { Change, RowVerdict } from './method/verdict';

/** As the anomaly node; its fields have the same names. */
export interface AnomalyOptions {
  /** The column of the key: each machine is known by itself. */
  key?: string | undefined;
  /** The column of the time; empty: one with a usual name, else the time of arrival. */
  time?: string | undefined;
  /** Columns that are no sensors. */
  ignore?: readonly string[] | undefined;
  /** Readings within so long a time are one row of their means, such as `5m`. Default: each reading is a row. */
  every?: string | undefined;
  /** About how many alarms for each key: `alarms` a day, week or month. Default: 1 a week. */
  alarms?: number;
  per?: 'day' | 'week' | 'month';
  /** Readings before the first verdict. Default 300. */
  learn?: number;
  /** IANA zone of dates without one. Default: that of this computer. */
  timezone?: string | undefined;
}

/** One reading: columns with their values. */
export type AnomalyReading = Readonly<Record<string, unknown>>;

/** Where a reading is told to be from, beside its columns. */
export interface ReadingPlace {
  key?: string | undefined;
  /** Milliseconds since 1970, or a date in any form. */
  time?: unknown;
}

/** What is told of a reading. */
export interface AnomalyAnswer extends RowVerdict {
  key: string | null;
  time: number;
}

/** What happened to a machine: with a reading, or by itself when a fit has ended. */
export type AnomalyChange = Change & { key: string | null };

/** What is no error, but told. */
export interface AnomalyNote {
  kind: 'storage.failed' | 'storage.ok' | 'late' | 'learn' | 'missing';
  text: string;
}

export interface AnomalyProgress {
  keys: number;
  readings: number;
  /** Keys that have learned what is usual. */
  known: number;
  /** Keys with readings enough from which nothing could be learned. */
  unlearnable: number;
  /** Of the key with the fewest readings: how many it has, of those it needs. */
  rows: number;
  needed: number;
  late: number;
  storage: 'none' | 'ok' | 'failed';
}

export interface AnomalySurroundings {
  /** Folder that keeps what is known across restarts, of these machines alone. Default: memory only. */
  folder?: string | undefined;
  notify?: (note: AnomalyNote) => void;
  /** Told what happens between readings: something was learned, or a question has come up. */
  onChange?: (change: AnomalyChange) => void;
}

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
