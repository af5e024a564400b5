import type { Cause, CauseText } from '../types';

/** The parts of the sentence, in one language. */
export interface CauseWords {
  /** A part with its values put in: see `ENGLISH`. */
  word: (key: string, values: Record<string, string>) => string;
  /** A number with so many decimals at most. */
  number: (value: number, most: { decimals: number }) => string;
}

const ENGLISH: Record<string, string> = {
  subject: '{column} {value}',
  subjectUsual: '{column} {value} (usually {low} to {high})',
  subjectAlways: '{column} {value} (usually {low})',
  subjectMissing: '{column} (missing)',
  raisedClass: '{subject} raised "{label}" by {effect} points',
  loweredClass: '{subject} lowered "{label}" by {effect} points',
  raised: '{subject} raised the prediction by {effect}',
  lowered: '{subject} lowered the prediction by {effect}',
};

/** `vibration 7.9 (usually 2.1 to 3.4) raised "yes" by 31 points`, in English. */
export const causeText: CauseText = causeTextIn({
  word: (key, values) => ENGLISH[key]!.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ''),
  number: (value, { decimals }) => formatOf(decimals).format(value),
});

const formats: (Intl.NumberFormat | undefined)[] = [];

/** One format for each number of decimals: to make one takes fifty times as long as to use it. */
function formatOf(decimals: number): Intl.NumberFormat {
  return (formats[decimals] ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: decimals }));
}

/** Characters of a text that a sentence shows. */
const MOST_TEXT = 60;

/** The same in the words of a language. */
export function causeTextIn({ word, number }: CauseWords): CauseText {
  const rounded = (value: number): string => number(value, { decimals: decimalsOf(value, 2) });
  const subjectOf = ({ column, value, usual }: Omit<Cause, 'text'>): string => {
    if (value === undefined || value === null || value === '') {
      return word('subjectMissing', { column });
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
    const told = number(points, { decimals: points < 9.5 ? 1 : 0 });
    return word(`${direction}Class`, { subject, label: String(label), effect: told });
  };
}

/** Decimals that show a size of numbers with so many digits after its first one. */
function decimalsOf(size: number, more: number): number {
  return size === 0 ? 0 : Math.max(0, Math.min(12, more - Math.floor(Math.log10(Math.abs(size)))));
}

function shown(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : String(value);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
