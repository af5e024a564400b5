import type { ModelCard } from '../models/cards';
import type { Cause, CauseText } from '../models/types';
import type { Label } from '../table/cells/types';
import { seededRandom } from '../util/random';
import { isObject } from '../util/values';

/** What is to be explained. */
export interface ExplainWish {
  /** Columns that are one cause together, by its name; any other column is a cause by itself. */
  groups: Record<string, string[]>;
  /** The class explained; undefined: in each row the one answered. Of numbers undefined too. */
  label?: string | number | boolean;
  /** Only rows whose probability of that class, or whose mean, is above this. */
  above?: number;
}

/** Why a row is predicted as it is: `base` and `effects` add up to `prediction`. */
export interface RowEffects {
  /** The class explained, by its number; undefined for numbers. */
  of?: number;
  /** Probability of that class, or the mean. */
  prediction: number;
  /** What is predicted for the rows that it is compared with, in the mean. */
  base: number;
  /** One for each cause. */
  effects: number[];
}

/** Effects of the rows of a test set. */
export interface Effects {
  causes: string[];
  /** Per cause what its own column usually holds: the 10 % and the 90 % quantile; null where it holds no numbers. */
  usual: ([low: number, high: number] | null)[];
  /** Per cause, the mean of its own column over the background rows. */
  means: (number | null)[];
  /** By the number of the row, from 0; rows that were not explained are missing. */
  rows: Map<number, RowEffects>;
  /** Rows that were left out because there were too many. */
  left: number;
}

/** What the embedded service says of its predictions; undefined where it is anything else. */
export function readEffects(explanation: unknown): Effects | undefined {
  if (!isObject(explanation)) {
    return undefined;
  }
  const { groups, usual, means, rows, left, classes, predictions, bases, effects } =
    explanation as Partial<Explanation>;
  const lists = [groups, usual, means, rows, predictions, bases, effects];
  if (!lists.every((list) => Array.isArray(list))) {
    return undefined;
  }
  const own = rows!.map((row, i): [number, RowEffects] => [
    row,
    { of: classes?.[i], prediction: predictions![i]!, base: bases![i]!, effects: effects![i]! },
  ]);
  return { causes: groups!, usual: usual!, means: means!, rows: new Map(own), left: left ?? 0 };
}

interface Explanation extends Pick<Effects, 'usual' | 'means' | 'left'> {
  groups: string[];
  rows: number[];
  classes?: number[];
  predictions: number[];
  bases: number[];
  effects: number[][];
}

/** Those of the rows `from` to `to` (exclusive), numbered from 0. */
export function sliceEffects(effects: Effects, from: number, to: number): Effects {
  if (from === 0 && effects.rows.size === 0) {
    return effects;
  }
  const rows = [...effects.rows]
    .filter(([row]) => row >= from && row < to)
    .map(([row, own]): [number, RowEffects] => [row - from, own]);
  return { ...effects, rows: new Map(rows) };
}

/** Those of the parts of a table, in order; undefined where a part has none. */
export function joinEffects(parts: readonly { rows: number; effects?: Effects }[]): Effects | undefined {
  const rows = new Map<number, RowEffects>();
  let [from, left] = [0, 0];
  for (const part of parts) {
    if (part.effects === undefined) {
      return undefined;
    }
    for (const [row, own] of part.effects.rows) {
      rows.set(from + row, own);
    }
    left += part.effects.left;
    from += part.rows;
  }
  return { ...parts[0]!.effects!, rows, left };
}

/** Effects on a change as effects on the level: the column that it is the change from is a cause of it as well. */
export function addOffsetsToEffects(
  effects: Effects,
  offsets: readonly number[],
  relativeTo: string,
): Effects {
  const cause = effects.causes.indexOf(relativeTo);
  const mean = effects.means[cause] ?? 0;
  const rows = new Map<number, RowEffects>();
  for (const [row, own] of effects.rows) {
    const offset = offsets[row]!;
    if (!Number.isNaN(offset)) {
      const moved = own.effects.map((effect, i) => (i === cause ? effect + offset - mean : effect));
      rows.set(row, { prediction: own.prediction + offset, base: own.base + mean, effects: moved });
    }
  }
  return { ...effects, rows };
}

/** Rows to be predicted so that some rows can be explained: mixtures of them with rows of the background. */
interface Mixtures {
  /** [column][mixture]: the row that the cell is taken from; explained rows first, then those of the background. */
  sources: number[][];
  /** [row explained][row of the background]: a random order of the causes; its reverse is tried too. */
  orders: number[][][];
}

/** Mixtures that it takes to explain a row: a random order and its reverse for each row of the background. */
export function mixturesPerRow(background: number, causes: number): number {
  return 1 + background * 2 * Math.max(0, causes - 1);
}

/**
 * The mixtures of `rows` explained rows with `background` rows: those of the background as they are; then for each
 * explained row itself, and for each row of the background the steps along an order of the causes, and along its reverse.
 *
 * @param causeOf per column the number of its cause
 */
export function planMixtures(
  rows: number,
  background: number,
  causeOf: readonly number[],
  causes: number,
): Mixtures {
  const sources: number[][] = causeOf.map(() => []);
  const add = (row: number, base: number, taken: ReadonlySet<number> | 'all' | 'none') =>
    causeOf.forEach((cause, column) => {
      const isOwn = taken === 'all' || (taken !== 'none' && taken.has(cause));
      sources[column]!.push(isOwn ? row : rows + base);
    });
  for (let base = 0; base < background; base++) {
    add(0, base, 'none');
  }
  const orders: number[][][] = [];
  for (let row = 0; row < rows; row++) {
    add(row, 0, 'all');
    const own: number[][] = [];
    for (let base = 0; base < background; base++) {
      const order = shuffled(causes, row * background + base);
      own.push(order);
      for (const way of [order, order.toReversed()]) {
        const taken = new Set<number>();
        for (const cause of way.slice(0, -1)) {
          taken.add(cause);
          add(row, base, taken);
        }
      }
    }
    orders.push(own);
  }
  return { sources, orders };
}

/** The effects of one explained row, from the answers to the mixtures. */
export function effectsOfMixtures(
  row: number,
  { orders }: Mixtures,
  answerOf: (mixture: number) => number,
  causes: number,
): Omit<RowEffects, 'of'> {
  const background = orders[row]!.length;
  let at = background + row * mixturesPerRow(background, causes);
  const prediction = answerOf(at++);
  const effects = new Array<number>(causes).fill(0);
  let base = 0;
  orders[row]!.forEach((order, one) => {
    const start = answerOf(one);
    base += start / background;
    for (const way of [order, order.toReversed()]) {
      let before = start;
      way.forEach((cause, step) => {
        const after = step === causes - 1 ? prediction : answerOf(at++);
        effects[cause]! += (after - before) / (2 * background);
        before = after;
      });
    }
  });
  return { prediction, base, effects };
}

/** The numbers from 0 in a random order that is always the same for a seed. */
function shuffled(count: number, seed: number): number[] {
  const random = seededRandom(seed);
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

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
export function writeCauses(
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
  number: (value, { decimals, unit }) => makeFormat(decimals, unit).format(value),
});

const formats = new Map<string, Intl.NumberFormat>();

/** One format for each number of decimals and unit: to make one takes fifty times as long as to use it. */
function makeFormat(decimals: number, unit: DurationUnit | undefined): Intl.NumberFormat {
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
  const rounded = (value: number): string => number(value, { decimals: countDecimals(value, 2) });
  const duration = (ms: number): string => {
    const unit = (Object.keys(UNITS) as DurationUnit[]).find((one) => ms % UNITS[one] === 0)!;
    return number(ms / UNITS[unit], { decimals: 0, unit });
  };
  const nameSubject = ({ column, value, usual }: Omit<Cause, 'text'>): string => {
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
    const decimals = high > low ? countDecimals(high - low, 1) : countDecimals(high, 2);
    // In a wide range too, 3.5 is not told as 4: whoever looks for it in the row would not find it.
    const own =
      typeof value === 'number'
        ? number(value, { decimals: Math.max(decimals, countDecimals(value, 1)) })
        : shown(value);
    const values = { column, value: own, low: number(low, { decimals }), high: number(high, { decimals }) };
    return word(values.low === values.high ? 'subjectAlways' : 'subjectUsual', values);
  };
  return (cause, label) => {
    const { effect } = cause;
    const subject = nameSubject(cause);
    const direction = effect > 0 ? 'raised' : 'lowered';
    if (label === undefined) {
      return word(direction, { subject, effect: rounded(Math.abs(effect)) });
    }
    const points = Math.abs(effect) * 100;
    // However little it is, it is not told as none.
    const amount = number(points, { decimals: points < 9.5 ? Math.max(1, countDecimals(points, 0)) : 0 });
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
function countDecimals(size: number, more: number): number {
  return size === 0 ? 0 : Math.max(0, Math.min(12, more - Math.floor(Math.log10(Math.abs(size)))));
}

function shown(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : String(value);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
