import type { ColumnSpec } from '../features/encode';
import { square } from '../math/numeric';

/** One term of a linear model. `values`: a number per bin of the column; `rule` says how they were made. */
export interface Term {
  column: number;
  rule: TermRule;
  values: Float64Array;
}

/** A standardised column; an indicator of missing values less their share; or an indicator of a category. */
export type TermRule =
  | { kind: 'ordered'; mean: number; scale: number }
  | { kind: 'missing'; share: number }
  | { kind: 'category'; bin: number };

/** Standardised values beyond this count as this. */
const MOST_DEVIATIONS = 5;

/** @param center mean value of each bin, where the rule is for an ordered column */
export function termValues(rule: TermRule, bins: number, center: Float64Array | undefined): Float64Array {
  const values = new Float64Array(bins);
  if (rule.kind === 'category') {
    values[rule.bin] = 1;
    return values;
  }
  if (rule.kind === 'missing') {
    return values.map((_, bin) => (bin === 0 ? 1 : 0) - rule.share);
  }
  for (let bin = 1; bin < bins; bin++) {
    const z = ((center?.[bin] ?? 0) - rule.mean) / rule.scale;
    values[bin] = Math.max(-MOST_DEVIATIONS, Math.min(MOST_DEVIATIONS, z));
  }
  return values;
}

/** The table's columns, and the rows to learn from. */
export interface TermInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  /** columns × bins: mean value of each bin; undefined for categories. */
  centers: (Float64Array | undefined)[];
  rows: Int32Array;
}

export const MAX_TERMS = 300;

/** The terms of all columns. More than `MAX_TERMS` of them: too many to learn. */
export function makeTerms({ columns, specs, centers, rows }: TermInput): Term[] {
  const terms: Term[] = [];
  specs.forEach((spec, column) => {
    if (terms.length > MAX_TERMS) {
      return;
    }
    const counts = new Int32Array(spec.bins);
    for (const row of rows) {
      counts[columns[column][row]]++;
    }
    const center = centers[column];
    if (center) {
      terms.push(...orderedTerms(column, center, counts, rows.length));
    } else {
      terms.push(...categoryTerms(column, counts));
    }
  });
  return terms;
}

export function makeTerm(column: number, rule: TermRule, bins: number, center?: Float64Array): Term {
  return { column, rule, values: termValues(rule, bins, center) };
}

/** The standardised column with missing values at its mean, and an indicator of missing values. */
function orderedTerms(column: number, center: Float64Array, counts: Int32Array, rows: number): Term[] {
  const terms: Term[] = [];
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
    const scale = Math.sqrt(spread) / (counts.length <= 3 ? Math.min(1, Math.sqrt(spread) / 0.15) : 1);
    terms.push(makeTerm(column, { kind: 'ordered', mean, scale }, center.length, center));
  }
  const minority = Math.min(counts[0], known);
  if (minority >= 3) {
    terms.push(makeTerm(column, { kind: 'missing', share: counts[0] / rows }, center.length));
  }
  return terms;
}

/** The most frequent categories, one indicator each. */
function categoryTerms(column: number, counts: Int32Array): Term[] {
  const common = Array.from(counts.keys())
    .filter((bin) => counts[bin] >= 3)
    .sort((a, b) => counts[b] - counts[a] || a - b)
    .slice(0, 50);
  if (common.length < 2) {
    return [];
  }
  return common.map((bin) => makeTerm(column, { kind: 'category', bin }, counts.length));
}

/** The design matrix: rows × (1 + terms), row-major; the first column is 1. */
export function makeDesign(terms: Term[], { columns, rows }: TermInput): Float64Array {
  const size = terms.length + 1;
  const design = new Float64Array(rows.length * size);
  for (let i = 0; i < rows.length; i++) {
    design[i * size] = 1;
  }
  terms.forEach(({ column, values }, t) => {
    const bins = columns[column];
    for (let i = 0; i < rows.length; i++) {
      design[i * size + t + 1] = values[bins[rows[i]]];
    }
  });
  return design;
}

/**
 * The design matrix in sparse form: per term its most common value, and the entries that differ from it. An indicator
 * of a category or a word differs in few rows.
 */
export interface SparseDesign {
  /** 1 + terms: the common value of each column. */
  common: Float64Array;
  /** Row i differs in columns `terms[starts[i] … starts[i + 1] - 1]`, by the differences `by` at the same places. */
  starts: Int32Array;
  terms: Int32Array;
  by: Float64Array;
}

/** @param design rows × size, from `makeDesign` */
export function sparse(design: Float64Array, size: number, terms: Term[], input: TermInput): SparseDesign {
  const count = input.rows.length;
  const common = new Float64Array(size);
  common[0] = 1;
  terms.forEach((term, t) => (common[t + 1] = commonValue(term, input)));
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

/** The value that a term has in more than half of the rows; 0 without such a value. */
function commonValue({ column, values }: Term, { columns, rows }: TermInput): number {
  const counts = new Map<number, number>();
  const bins = columns[column];
  for (const row of rows) {
    const value = values[bins[row]];
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  for (const [value, count] of counts) {
    if (count * 2 > rows.length) {
      return value;
    }
  }
  return 0;
}
