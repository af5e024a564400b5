import type { Cause, CauseText } from '../types';

export type DurationUnit = keyof typeof UNITS;

/** Milliseconds of each. */
const UNITS = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };
/** How far a row that a series node made looks ahead, milliseconds. */
const STEP_COLUMN = 'ahead';

/** The parts of the sentence, in one language. */
export interface CauseWords {
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
