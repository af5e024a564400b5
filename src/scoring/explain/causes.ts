import type { Label } from '../../table';
import type { Cause, CauseText, ModelCard } from '../types';
import type { Effects, ExplainWish } from './effects';

/** Causes that a row is given, the ones of most effect. */
const TOLD = 3;

/** What is attached to a row: its causes, or null where it is not explained. */
export type CausesOf = (row: number, cellOf: (column: string) => unknown) => Cause[] | null;

/**
 * The causes of each row, the ones of most effect first.
 *
 * @param classes the labels of the model in their order; undefined for numbers
 * @param write makes the text; default English
 */
export function causesOf(
  { causes, usual, rows }: Effects,
  { above }: Pick<ExplainWish, 'above'>,
  classes: readonly Label[] | undefined,
  write: CauseText = causeText,
): CausesOf {
  return (row, cellOf) => {
    const own = rows.get(row);
    if (own === undefined || (above !== undefined && !(own.prediction > above))) {
      return null;
    }
    return own.effects
      .map((effect, i) => ({ effect, i }))
      .filter(({ effect }) => effect !== 0)
      .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
      .slice(0, TOLD)
      .map(({ effect, i }) => {
        const value = cellOf(causes[i]!);
        // Of a truth value or a date, a range of numbers says nothing.
        const range =
          typeof value === 'boolean' || value instanceof Date ? undefined : (usual[i] ?? undefined);
        const cause = { column: causes[i]!, value, ...(range && { usual: range }), effect };
        return {
          ...cause,
          text: write(cause, own.of === undefined ? undefined : (classes?.[own.of] ?? own.of)),
        };
      });
  };
}

/*
 * Columns of one sensor, as tabular-series names them: `vibration`, `vibration mean 1h`, `vibration a day before`
 * (docs/series.md). They count as one cause.
 */
const WINDOW = /^(.+) (?:change|mean|spread|lowest|highest|changes) \d+(?:ms|[smhdw])$/u;
const STATE = /^(.+?) (?:for|(?:change )?a (?:day|week) before|usual (?:now|change))$/u;

/** The causes of more than one column, by name: columns of a sensor whose own column is there too. */
export function causeGroups(columns: readonly { name: string }[]): Record<string, string[]> {
  const names = new Set(columns.map(({ name }) => name));
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const sensor = (WINDOW.exec(name) ?? STATE.exec(name))?.[1];
    if (sensor !== undefined && names.has(sensor)) {
      const group = groups.get(sensor) ?? [sensor];
      group.push(name);
      groups.set(sensor, group);
    }
  }
  return Object.fromEntries(groups);
}

/** How much each sensor matters, with all its columns: the most important first. What is below 0 is chance. */
export function importanceBySensor({
  columns,
  importance = [],
}: Pick<ModelCard, 'columns' | 'importance'>): [sensor: string, value: number][] {
  const groups = Object.entries(causeGroups(columns));
  const sensorOf = new Map(groups.flatMap(([sensor, names]) => names.map((name) => [name, sensor])));
  const sums = new Map<string, number>();
  for (const { column, permutation } of importance) {
    const sensor = sensorOf.get(column) ?? column;
    sums.set(sensor, (sums.get(sensor) ?? 0) + Math.max(0, permutation));
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

type DurationUnit = keyof typeof UNITS;

/** Milliseconds of each. */
const UNITS = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };
/** How far a row that a series node made looks ahead, milliseconds. */
const STEP_COLUMN = 'ahead';

/** The parts of the sentence, in one language. */
interface CauseWords {
  /** A part with its values put in: see `ENGLISH`. */
  word: (key: string, values: Record<string, string>) => string;
  /** A number with at most that many decimals, and its unit if it has one. */
  number: (value: number, most: { decimals: number; unit?: DurationUnit }) => string;
}

const ENGLISH: Record<string, string> = {
  subject: '{column} {value}',
  subjectUsual: '{column} {value} (usually {low} to {high})',
  subjectAlways: '{column} {value} (usually {low})',
  subjectMissing: '{column} (missing)',
  raisedClass: '{subject} raised "{label}" by {effect} points',
  loweredClass: '{subject} lowered "{label}" by {effect} points',
  raisedClassOne: '{subject} raised "{label}" by {effect} point',
  loweredClassOne: '{subject} lowered "{label}" by {effect} point',
  raised: '{subject} raised the prediction by {effect}',
  lowered: '{subject} lowered the prediction by {effect}',
};

/** `vibration 7.9 (usually 2.1 to 3.4) raised "yes" by 31 points`, in English. */
export const causeText: CauseText = causeTextIn({
  word: (key, values) => ENGLISH[key]!.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ''),
  number: (value, { decimals, unit }) => formatOf(decimals, unit).format(value),
});

const formats = new Map<string, Intl.NumberFormat>();

/** One format for each number of decimals and unit: to make one takes fifty times as long as to use it. */
function formatOf(decimals: number, unit: DurationUnit | undefined): Intl.NumberFormat {
  const key = `${decimals} ${unit ?? ''}`;
  let format = formats.get(key);
  if (format === undefined) {
    const style = unit === undefined ? {} : ({ style: 'unit', unit, unitDisplay: 'short' } as const);
    format = new Intl.NumberFormat('en-US', { maximumFractionDigits: decimals, ...style });
    formats.set(key, format);
  }
  return format;
}

/** Characters of a text that a sentence shows. */
const MOST_TEXT = 60;

/** The same in the words of a language. */
export function causeTextIn({ word, number }: CauseWords): CauseText {
  const rounded = (value: number): string => number(value, { decimals: decimalsOf(value, 2) });
  const duration = (ms: number): string => {
    const unit = (Object.keys(UNITS) as DurationUnit[]).find((one) => ms % UNITS[one] === 0)!;
    return number(ms / UNITS[unit], { decimals: 0, unit });
  };
  const subjectOf = ({ column, value, usual }: Omit<Cause, 'text'>): string => {
    if (value === undefined || value === null || value === '') {
      return word('subjectMissing', { column });
    }
    if (column === STEP_COLUMN && isStep(value)) {
      return word('subject', { column, value: duration(value) });
    }
    if (usual === undefined) {
      return word('subject', { column, value: typeof value === 'number' ? rounded(value) : shown(value) });
    }
    const [low, high] = usual;
    const decimals = high > low ? decimalsOf(high - low, 1) : decimalsOf(high, 2);
    const own = typeof value === 'number' ? number(value, { decimals }) : shown(value);
    const values = { column, value: own, low: number(low, { decimals }), high: number(high, { decimals }) };
    return word(values.low === values.high ? 'subjectAlways' : 'subjectUsual', values);
  };
  return (cause, label) => {
    const { effect } = cause;
    const subject = subjectOf(cause);
    const direction = effect > 0 ? 'raised' : 'lowered';
    if (label === undefined) {
      return word(direction, { subject, effect: rounded(Math.abs(effect)) });
    }
    const points = Math.abs(effect) * 100;
    // However little it is, it is not told as none.
    const amount = number(points, { decimals: points < 9.5 ? Math.max(1, decimalsOf(points, 0)) : 0 });
    return word(`${direction}Class${amount === '1' ? 'One' : ''}`, {
      subject,
      label: String(label),
      effect: amount,
    });
  };
}

/** Whole seconds, as a series node writes them: a column of a user that has the same name holds others. */
function isStep(value: unknown): value is number {
  return typeof value === 'number' && value >= UNITS.second && value % UNITS.second === 0;
}

/** Decimals that show numbers of this size with that many digits after the first. */
function decimalsOf(size: number, more: number): number {
  return size === 0 ? 0 : Math.max(0, Math.min(12, more - Math.floor(Math.log10(Math.abs(size)))));
}

function shown(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : String(value);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
