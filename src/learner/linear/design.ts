import type { ColumnSpec, EncodedTable } from '../features/encode';
import { square } from '../math/numeric';
import { LINEAR } from '../tuned';

/**
 * A term of a linear model. `values` has one number per bin of the column, none for a `number`; `rule` says how to
 * compute them.
 */
export interface Term {
  column: number;
  rule: TermRule;
  values: Float64Array;
}

/**
 * A standardised column, taken by value or by the mean of its bin; an indicator of missing values, centred; or an
 * indicator of a category.
 */
export type TermRule =
  | NumberRule
  | { kind: 'ordered'; mean: number; scale: number }
  | { kind: 'missing'; share: number }
  | { kind: 'category'; bin: number };

/**
 * `low` and `high`: the smallest and largest standardised values of the training rows. Outliers are clipped for a
 * `number`, and hardly at all for a `whole` one.
 */
export interface NumberRule {
  kind: 'number' | 'whole';
  mean: number;
  scale: number;
  low: number;
  high: number;
}

/** Standardised values are clipped at this many deviations (docs/benchmarks/many-tables.md, "Linear models"). */
export const MOST_DEVIATIONS = 5;
/** For unclipped terms: this multiple of the largest training value, since larger ones may be errors. */
const FURTHER = 2;

/** The number of standard deviations above the mean, clipped at `most`; 0 for a missing value. */
export function standardised(value: number, mean: number, scale: number, most = MOST_DEVIATIONS): number {
  const z = (value - mean) / scale;
  return Number.isNaN(z) ? 0 : Math.max(-most, Math.min(most, z));
}

/** Where the values of a term are clipped. */
export function findClip({ kind, low, high }: NumberRule): number {
  return kind === 'whole' ? FURTHER * Math.max(MOST_DEVIATIONS, -low, high) : MOST_DEVIATIONS;
}

export function isLine(rule: TermRule): rule is NumberRule {
  return rule.kind === 'number' || rule.kind === 'whole';
}

/** The value of a numeric term. */
export function termValue(value: number, rule: NumberRule): number {
  return standardised(value, rule.mean, rule.scale, findClip(rule));
}

/** @param center the mean value of each bin, if the rule is for an ordered column */
function termValues(rule: TermRule, bins: number, center: Float64Array | undefined): Float64Array {
  const values = new Float64Array(isLine(rule) ? 0 : bins);
  if (isLine(rule)) {
    return values;
  }
  if (rule.kind === 'category') {
    values[rule.bin] = 1;
    return values;
  }
  if (rule.kind === 'missing') {
    return values.map((_, bin) => (bin === 0 ? 1 : 0) - rule.share);
  }
  for (let bin = 1; bin < values.length; bin++) {
    values[bin] = standardised(center?.[bin] ?? 0, rule.mean, rule.scale);
  }
  return values;
}

/** The table's columns, and the rows to learn from. */
export interface TermInput extends EncodedTable {
  specs: ColumnSpec[];
  /** Columns × bins: the mean value of each bin; undefined for categories. */
  centers: (Float64Array | undefined)[];
  rows: Int32Array;
  /** Whether to keep values beyond `MOST_DEVIATIONS` instead of clipping them. */
  whole?: boolean;
}

/** The square of this many is solved for each penalty: fit-times.md has a table that reaches it. */
export const MAX_TERMS = 300;

/**
 * The terms of all columns. More than `MAX_TERMS` means too many to learn.
 *
 * @param isRoom whether this many terms can be learned
 */
export function makeTerms(
  { columns, numbers, specs, centers, rows, whole }: TermInput,
  isRoom = (count: number) => count <= MAX_TERMS,
): Term[] {
  let count = 0;
  const levels: number[][] = [];
  const made = specs.map((spec, column): Term[] => {
    const counts = new Int32Array(spec.bins);
    for (const row of rows) {
      counts[columns[column][row]]++;
    }
    const center = centers[column];
    const values = numbers[column];
    if (center === undefined) {
      levels[column] = commonLevels(counts);
      return [];
    }
    if (count > MAX_TERMS || spec.between) {
      return [];
    }
    const own = values
      ? numberTerms(column, values, counts, rows, whole === true)
      : orderedTerms(column, center, counts, rows.length);
    count += own.length;
    return own;
  });
  const countOf = (most: number) => levels.reduce((sum, own) => sum + Math.min(own.length, most), count);
  const most = LINEAR.levels.find((one) => isRoom(countOf(one))) ?? LINEAR.levels[LINEAR.levels.length - 1];
  levels.forEach((bins, column) => {
    made[column] = bins
      .slice(0, most)
      .map((bin) => makeTerm(column, { kind: 'category', bin }, specs[column].bins));
  });
  return made.flat();
}

export function makeTerm(column: number, rule: TermRule, bins: number, center?: Float64Array): Term {
  return { column, rule, values: termValues(rule, bins, center) };
}

/** The standardised column, with missing values at its mean, and an indicator of missing values. */
function numberTerms(
  column: number,
  values: Float64Array,
  counts: Int32Array,
  rows: Int32Array,
  whole: boolean,
): Term[] {
  const finite = Float64Array.from(rows, (row) => values[row]).filter((value) => Number.isFinite(value));
  let mean = 0;
  let spread = 0;
  for (const value of finite) {
    mean += value / finite.length;
  }
  for (const value of finite) {
    spread += square(value - mean) / finite.length;
  }
  const terms = missingTerms(column, counts, rows.length);
  if (spread > 0 && Number.isFinite(spread)) {
    const scale = chooseScale(spread, counts);
    const most = whole ? Infinity : MOST_DEVIATIONS;
    let [low, high] = [Infinity, -Infinity];
    for (const value of finite) {
      const z = standardised(value, mean, scale, most);
      low = Math.min(low, z);
      high = Math.max(high, z);
    }
    const rule: NumberRule = { kind: whole ? 'whole' : 'number', mean, scale, low, high };
    terms.unshift({ column, rule, values: NO_VALUES });
  }
  return terms;
}

const NO_VALUES = new Float64Array(0);

/** The unit of a standardised column; larger for a column of two values if one of them is rare. */
function chooseScale(spread: number, counts: Int32Array): number {
  return Math.sqrt(spread) / (counts.length <= 3 ? Math.min(1, Math.sqrt(spread) / 0.15) : 1);
}

function missingTerms(column: number, counts: Int32Array, rows: number): Term[] {
  const minority = Math.min(counts[0], rows - counts[0]);
  return minority < 3 ? [] : [makeTerm(column, { kind: 'missing', share: counts[0] / rows }, counts.length)];
}

/** The same for a column of which only bins are known. */
function orderedTerms(column: number, center: Float64Array, counts: Int32Array, rows: number): Term[] {
  const terms = missingTerms(column, counts, rows);
  const known = rows - counts[0];
  let mean = 0;
  let spread = 0;
  for (let bin = 1; bin < counts.length; bin++) {
    mean += (center[bin] * counts[bin]) / known;
  }
  for (let bin = 1; bin < counts.length; bin++) {
    spread += (square(center[bin] - mean) * counts[bin]) / known;
  }
  if (spread > 0 && Number.isFinite(spread)) {
    const scale = chooseScale(spread, counts);
    terms.unshift(makeTerm(column, { kind: 'ordered', mean, scale }, center.length, center));
  }
  return terms;
}

/** The bins of the levels that get terms, most frequent first. */
function commonLevels(counts: Int32Array): number[] {
  const common = Array.from(counts.keys())
    .filter((bin) => counts[bin] >= LINEAR.rowsPerLevel)
    .sort((a, b) => counts[b] - counts[a] || a - b);
  return common.length < 2 ? [] : common;
}

/** The design matrix, rows × (1 + terms); the first column is 1. */
export function makeDesign(terms: Term[], { columns, numbers, rows }: TermInput): Float64Array {
  const size = terms.length + 1;
  const design = new Float64Array(rows.length * size);
  for (let i = 0; i < rows.length; i++) {
    design[i * size] = 1;
  }
  terms.forEach(({ column, rule, values }, t) => {
    const bins = columns[column];
    if (isLine(rule)) {
      const own = numbers[column]!;
      for (let i = 0; i < rows.length; i++) {
        design[i * size + t + 1] = termValue(own[rows[i]], rule);
      }
      return;
    }
    for (let i = 0; i < rows.length; i++) {
      design[i * size + t + 1] = values[bins[rows[i]]];
    }
  });
  return design;
}

/**
 * The design matrix in sparse form: the most common value of each term, and the entries that differ from it. An
 * indicator of a category or a word differs in few rows.
 */
export interface SparseDesign {
  /** 1 + terms: the common value of each column. */
  common: Float64Array;
  /**
   * Row i differs in columns `terms[starts[i] … starts[i + 1] - 1]`, by the differences in `by` at the same indices.
   */
  starts: Int32Array;
  terms: Int32Array;
  by: Float64Array;
}

/** @param design rows × size, from `makeDesign` */
export function sparse(design: Float64Array, size: number): SparseDesign {
  const count = design.length / size;
  const common = Float64Array.from({ length: size }, (_, t) => commonValue(design, size, t));
  const starts = new Int32Array(count + 1);
  for (let i = 0, entries = 0; i < count; i++) {
    for (let t = 0; t < size; t++) {
      entries += design[i * size + t] === common[t] ? 0 : 1;
    }
    starts[i + 1] = entries;
  }
  const out = { common, starts, terms: new Int32Array(starts[count]), by: new Float64Array(starts[count]) };
  for (let i = 0, entry = 0; i < count; i++) {
    for (let t = 0; t < size; t++) {
      const value = design[i * size + t];
      if (value !== common[t]) {
        out.terms[entry] = t;
        out.by[entry++] = value - common[t];
      }
    }
  }
  return out;
}

/** The value that a term has in more than half of the rows (R. Boyer and J. Moore, 1981), or 0 without one. */
function commonValue(design: Float64Array, size: number, term: number): number {
  let value = 0;
  let lead = 0;
  for (let at = term; at < design.length; at += size) {
    value = lead === 0 ? design[at] : value;
    lead += design[at] === value ? 1 : -1;
  }
  let count = 0;
  for (let at = term; at < design.length; at += size) {
    count += design[at] === value ? 1 : 0;
  }
  return count * 2 > design.length / size ? value : 0;
}
