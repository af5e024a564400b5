import type { Random } from '../math/random';
import { CATEGORY_LEVELS, TEXTS } from '../tuned';
import type { FeatureColumn } from '../types';
import { betweenBorders, binAll, findBin, findBorders, MAX_BINS } from './binning';
import { commonTokens } from './common-tokens';
import { DATE_PARTS, type DatePart, datePart, recurringParts } from './dates';
import { divideLevels, isElsewhere, type LevelShare } from './level-shares';
import { findNumber, findTokens } from './tokens';

/** How a feature becomes binned columns. Plain data, stored with the model. */
export type Encoder =
  | { type: 'number'; source: number; borders: Float64Array }
  | { type: 'date'; source: number; part: DatePart; borders: Float64Array }
  /** Borders for trees alone that one column of bins cannot hold, of a number or of a part of a date. */
  | { type: 'between'; source: number; part: DatePart | undefined; borders: Float64Array }
  | { type: 'category'; source: number; values: string[]; share?: LevelShare }
  | { type: 'numberCategory'; source: number; values: Float64Array; share?: LevelShare }
  | { type: 'length'; source: number; borders: Float64Array }
  | { type: 'numberInText'; source: number; borders: Float64Array }
  | { type: 'tokens'; source: number; tokens: string[] };

/** A table as the learner sees it. */
export interface EncodedTable {
  /** Columns × rows: bins. */
  columns: Uint8Array[];
  /**
   * Columns × rows: values of numbers and dates, NaN if missing; undefined for other columns, and if they are not
   * needed.
   */
  numbers: (Float64Array | undefined)[];
}

/** A binned column: the index of its feature, and its number of bins, including bin 0 for missing values. */
export interface ColumnSpec {
  source: number;
  bins: number;
  category: boolean;
  /** Whether it has what another column has no bins for: of no use but to trees. */
  between?: boolean;
}

/**
 * Bin 1 of a categorical column: rare and unseen values. Named categories start at bin 2. Where levels are divided among
 * columns, those of the others share the bin after them.
 */
const OTHER_BIN = 1;
const NAMED_CATEGORIES = MAX_BINS - 1;
/** How to encode. `asCategory`: the user declared the column categorical. */
export interface EncodeRules {
  asCategory: boolean;
  /** Rows are in order of time. */
  inTime?: boolean;
  /** Whether a date tells its calendar too (weekday, month, …), besides its place in time. */
  calendar?: boolean;
  maxBins: number;
  random: Random;
}

/** Chooses the encoders of a column from its values. */
export function chooseEncoders(column: FeatureColumn, source: number, rules: EncodeRules): Encoder[] {
  const { asCategory, inTime, calendar = true, maxBins, random } = rules;
  if (column.kind === 'text') {
    return chooseTextEncoders(column, source, rules);
  }
  if (column.kind === 'date') {
    const parts = inTime ? recurringParts(column.values) : DATE_PARTS;
    return parts
      .filter((part) => calendar || part === 'epoch')
      .flatMap((part): Encoder[] => {
        const values = dateValues(column.values, part);
        const borders = findBorders(values, random, maxBins);
        const more = betweenBorders(values, borders, maxBins);
        return [
          { type: 'date', source, part, borders },
          ...more.map((own): Encoder => ({ type: 'between', source, part, borders: own })),
        ];
      })
      .filter((encoder) => columnSpecs([encoder])[0].bins > 2 || hasMissing(column.values, encoder));
  }
  if (asCategory) {
    return numberCategories(column.values, source);
  }
  const borders = findBorders(column.values, random, maxBins);
  const more = betweenBorders(column.values, borders, maxBins);
  return [
    { type: 'number', source, borders },
    ...more.map((own): Encoder => ({ type: 'between', source, part: undefined, borders: own })),
  ];
}

/** The epoch column of a date stays even if constant when dates are missing: nothing else shows that. */
function hasMissing(values: Float64Array, encoder: Encoder): boolean {
  return encoder.type === 'date' && encoder.part === 'epoch' && values.some((v) => Number.isNaN(v));
}

function chooseTextEncoders(
  column: FeatureColumn & { kind: 'text' },
  source: number,
  { asCategory, random }: EncodeRules,
): Encoder[] {
  const { codes, dictionary } = column;
  const counts = new Int32Array(dictionary.length);
  let known = 0;
  for (const code of codes) {
    if (code < 0) {
      continue;
    }
    counts[code]++;
    known++;
  }
  const used: number[] = [];
  for (let code = 0; code < dictionary.length; code++) {
    if (counts[code] > 0) {
      used.push(code);
    }
  }
  const encoders: Encoder[] = [];
  const minCount = used.length <= 12 || asCategory ? 1 : Math.max(2, Math.min(5, Math.floor(known / 200)));
  const repeated = used.filter((code) => counts[code] >= minCount);
  const shared = used.reduce((sum, code) => sum + (counts[code] >= 2 ? counts[code] : 0), 0);
  const areAllNamed = asCategory || shared >= CATEGORY_LEVELS.shared * known;
  const named = (areAllNamed ? [...used] : repeated).sort(
    (a, b) => counts[b] - counts[a] || (dictionary[a] < dictionary[b] ? -1 : 1),
  );
  const texts = named.map((code) => dictionary[code]);
  if (areAllNamed) {
    const ofLevels = categories(texts, named.filter((code) => counts[code] >= CATEGORY_LEVELS.often).length);
    encoders.push(...ofLevels.map((own): Encoder => ({ type: 'category', source, ...own })));
  } else if (texts.length > 0 || used.length === 0) {
    encoders.push({ type: 'category', source, values: texts.slice(0, NAMED_CATEGORIES) });
  }
  const levels = new Set(areAllNamed ? named : named.slice(0, NAMED_CATEGORIES));
  const entries = used.map((code) => ({
    text: dictionary[code],
    count: counts[code],
    isNamed: levels.has(code),
  }));
  if (asCategory || !isText(entries, Math.min(repeated.length, NAMED_CATEGORIES))) {
    return encoders;
  }
  const tokens = commonTokens(entries, known);
  if (tokens.length > 0) {
    encoders.push({ type: 'tokens', source, tokens });
  }
  const derived = { length: (text: string) => text.length, numberInText: findNumber } as const;
  for (const type of ['length', 'numberInText'] as const) {
    const borders = findBorders(textValues(column, derived[type]), random);
    if (borders.length > 0) {
      encoders.push({ type, source, borders });
    }
  }
  return encoders;
}

/** Whether the values are text rather than names: too many to name each, or of several words. */
function isText(entries: { text: string }[], named: number): boolean {
  if (entries.length <= 12) {
    return false;
  }
  if (named < entries.length * 0.9) {
    return true;
  }
  const words = entries.reduce((sum, { text }) => sum + text.trim().split(/\s+/u).length, 0);
  return words >= 2 * entries.length;
}

/**
 * Keeps only the best tokens of each text column if there are many rows and many such columns: the service estimates
 * the memory of a fit from its cells, and a token takes a byte per row.
 */
export function shareTokens(encoders: Encoder[], rows: number, features: number): void {
  const lists = encoders.filter((encoder) => encoder.type === 'tokens');
  const share = Math.floor(Math.max(TEXTS.tokens, TEXTS.tokensPerFeature * features) / lists.length);
  if (rows <= TEXTS.manyRows) {
    return;
  }
  for (const encoder of lists) {
    encoder.tokens = encoder.tokens.slice(0, share);
  }
}

/**
 * The levels that each categorical column names.
 *
 * @param levels those of most rows first
 * @param often how many of them have rows enough for a column of their own
 */
function categories<T extends string | number>(
  levels: T[],
  often: number,
): { values: T[]; share?: LevelShare }[] {
  if (levels.length <= NAMED_CATEGORIES) {
    return [{ values: levels }];
  }
  const ofMost = often > 0 ? [{ values: levels.slice(0, Math.min(often, NAMED_CATEGORIES)) }] : [];
  return [...ofMost, ...divideLevels(levels)];
}

function numberCategories(column: Float64Array, source: number): Encoder[] {
  const counts = new Map<number, number>();
  for (const value of column) {
    if (!Number.isNaN(value)) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  const common = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const often = common.filter(([, count]) => count >= CATEGORY_LEVELS.often).length;
  return categories(
    common.map(([value]) => value),
    often,
  ).map(({ values, ...own }) => ({
    type: 'numberCategory',
    source,
    values: Float64Array.from(values),
    ...own,
  }));
}

/** The values of a numeric or date column before binning; undefined for other columns. */
export function measuredValues(encoder: Encoder, column: FeatureColumn): Float64Array | undefined {
  if (column.kind === 'text') {
    return undefined;
  }
  if (encoder.type === 'number') {
    return column.values;
  }
  return encoder.type === 'date' || encoder.type === 'between'
    ? readPart(column.values, encoder.part)
    : undefined;
}

function readPart(values: Float64Array, part: DatePart | undefined): Float64Array {
  return part === undefined ? values : dateValues(values, part);
}

/** The values that lines and Gaussian processes learn from: those of each number and part of a date once. */
export function selectNumbers(encoder: Encoder, values: Float64Array | undefined): Float64Array | undefined {
  return encoder.type === 'between' ? undefined : values;
}

function dateValues(values: Float64Array, part: DatePart): Float64Array {
  return values.map((ms) => datePart(ms, part));
}

function textValues(column: FeatureColumn & { kind: 'text' }, of: (text: string) => number): Float64Array {
  const perEntry = Float64Array.from(column.dictionary, of);
  return Float64Array.from(column.codes, (code) => (code < 0 ? NaN : perEntry[code]));
}

/** The binned columns that encoders produce, in order. */
export function columnSpecs(encoders: Encoder[]): ColumnSpec[] {
  return encoders.flatMap((encoder): ColumnSpec[] => {
    const { source } = encoder;
    switch (encoder.type) {
      case 'category':
      case 'numberCategory':
        return [{ source, bins: encoder.values.length + (encoder.share ? 3 : 2), category: true }];
      case 'tokens':
        return encoder.tokens.map(() => ({ source, bins: 3, category: false }));
      case 'between':
        return [{ source, bins: encoder.borders.length + 2, category: false, between: true }];
      default:
        return [{ source, bins: encoder.borders.length + 2, category: false }];
    }
  });
}

/**
 * The binned columns of one feature, in the order of `columnSpecs`. `numbers` comes from `measuredValues`; `allocate`
 * creates the arrays (in shared memory while training).
 */
export function encodeColumn(
  encoder: Encoder,
  column: FeatureColumn,
  numbers: Float64Array | undefined,
  allocate: (length: number) => Uint8Array = (length) => new Uint8Array(length),
): Uint8Array[] {
  if (column.kind === 'text') {
    return encodeText(encoder, column, allocate);
  }
  const bins = allocate(column.values.length);
  if (numbers && 'borders' in encoder) {
    binAll(numbers, encoder.borders, bins);
  } else if (encoder.type === 'numberCategory') {
    const index = new Map([...encoder.values].map((value, i) => [value, i + 2]));
    for (let row = 0; row < bins.length; row++) {
      const value = column.values[row];
      bins[row] = !Number.isNaN(value) ? (index.get(value) ?? unnamedBin(value, encoder)) : 0;
    }
  }
  return [bins];
}

/** The bin of a level that a categorical column does not name. */
function unnamedBin(
  level: string | number,
  { values, share }: Encoder & { type: 'category' | 'numberCategory' },
): number {
  return share && isElsewhere(level, share) ? values.length + 2 : OTHER_BIN;
}

function encodeText(
  encoder: Encoder,
  column: FeatureColumn & { kind: 'text' },
  allocate: (length: number) => Uint8Array,
): Uint8Array[] {
  const { codes, dictionary } = column;
  const perEntry: Uint8Array[] = [];
  if (encoder.type === 'category') {
    const index = new Map(encoder.values.map((value, i) => [value, i + 2]));
    perEntry.push(Uint8Array.from(dictionary, (value) => index.get(value) ?? unnamedBin(value, encoder)));
  } else if (encoder.type === 'length' || encoder.type === 'numberInText') {
    const of = encoder.type === 'length' ? (text: string) => text.length : findNumber;
    perEntry.push(Uint8Array.from(dictionary, (text) => findBin(of(text), encoder.borders)));
  } else if (encoder.type === 'tokens') {
    const index = new Map(encoder.tokens.map((token, i) => [token, i]));
    for (let i = 0; i < encoder.tokens.length; i++) {
      perEntry.push(new Uint8Array(dictionary.length).fill(1));
    }
    dictionary.forEach((text, code) => {
      for (const token of findTokens(text)) {
        const i = index.get(token);
        if (i !== undefined) {
          perEntry[i][code] = 2;
        }
      }
    });
  }
  return perEntry.map((entry) => {
    const bins = allocate(codes.length);
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row];
      bins[row] = code < 0 ? 0 : entry[code];
    }
    return bins;
  });
}

/** Per column of an encoder, the mean of the finite values in each bin; undefined for categories. */
export function binCenters(
  encoder: Encoder,
  column: FeatureColumn,
  numbers: Float64Array | undefined,
  bins: Uint8Array[],
): (Float64Array | undefined)[] {
  if (encoder.type === 'category' || encoder.type === 'numberCategory') {
    return [undefined];
  }
  if (encoder.type === 'tokens') {
    return encoder.tokens.map(() => Float64Array.of(0, 0, 1));
  }
  let values: Float64Array;
  if (column.kind !== 'text') {
    values = numbers ?? column.values;
  } else {
    values = textValues(column, encoder.type === 'length' ? (text) => text.length : findNumber);
  }
  const centers = new Float64Array(encoder.borders.length + 2);
  const counts = new Float64Array(centers.length);
  const assigned = bins[0];
  for (let row = 0; row < values.length; row++) {
    if (Number.isFinite(values[row])) {
      counts[assigned[row]]++;
    }
  }
  for (let row = 0; row < values.length; row++) {
    if (Number.isFinite(values[row])) {
      centers[assigned[row]] += values[row] / counts[assigned[row]];
    }
  }
  for (let bin = 2; bin < centers.length; bin++) {
    if (counts[bin] === 0) {
      centers[bin] = centers[bin - 1];
    }
  }
  for (let bin = centers.length - 2; bin > 0; bin--) {
    if (counts[bin] === 0) {
      centers[bin] = centers[bin + 1];
    }
  }
  return [centers];
}
