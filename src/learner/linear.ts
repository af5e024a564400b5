import type { ColumnSpec } from './encode';
import { cholesky, gram, solve } from './matrix';
import { sigmoid, softmax, square } from './numeric';
import type { Objective } from './objective';

/**
 * A linear model over binned columns is a table of scores: what each bin of each column adds. `at[column]` is
 * where the column's bins begin (-1: the column has no part), `scores[at[column] + bin * width + output]`.
 */
export interface LinearTables {
  base: Float64Array;
  at: Int32Array;
  scores: Float32Array;
}

/** Linear models for falling penalties, and their loss on the held-out rows. */
export interface LearnedLinear {
  tables: LinearTables[];
  curve: Float64Array;
  work: number;
}

export interface LinearInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  /** What the bins of an ordered column stand for; undefined for categories. */
  centers: (Float64Array | undefined)[];
  objective: Objective;
  /** Target per table row: values, or class codes. */
  target: ArrayLike<number>;
  regression: boolean;
  rows: Int32Array;
  heldOut: Int32Array;
  tableRows: number;
}

/** One term of the model: a number per bin of a column. */
interface Term {
  column: number;
  values: Float64Array;
}

const PENALTIES = [300, 100, 30, 10, 3, 1, 0.3, 0.1];
const MAX_TERMS = 300;
const MAX_STEPS = 60;
const WORK = 1.5e8;

/** Penalised least squares or logistic regression; undefined where the table is too wide or too long for it. */
export function fitLinear(input: LinearInput): LearnedLinear | undefined {
  const terms = makeTerms(input);
  const size = terms.length + 1;
  const count = input.rows.length;
  if (terms.length === 0 || terms.length > MAX_TERMS || size * size * count > 2 * WORK) {
    return undefined;
  }
  const { width } = input.objective;
  const design = makeDesign(terms, input);
  const products = gram(design, count, size);
  const steps = Math.min(MAX_STEPS, Math.floor(WORK / (2 * count * size * width * PENALTIES.length)));
  if (!input.regression && steps < 5) {
    return undefined;
  }
  const weights = new Float64Array(size * width);
  const tables: LinearTables[] = [];
  const curve = new Float64Array(PENALTIES.length);
  PENALTIES.forEach((penalty, i) => {
    if (input.regression) {
      leastSquares(input, design, products, size, penalty, weights);
    } else {
      logistic(input, design, products, size, penalty, steps, weights);
    }
    const table = makeTables(terms, weights, width, input.specs);
    const scores = new Float64Array(input.tableRows * width);
    for (const row of input.heldOut) {
      addLinearScores(table, input.columns, row, 1, scores, row * width);
    }
    curve[i] = input.objective.loss(scores, input.heldOut);
    tables.push(table);
  });
  return { tables, curve, work: count * size * (size + steps * width * PENALTIES.length) };
}

function makeTerms({ columns, specs, centers, rows }: LinearInput): Term[] {
  const terms: Term[] = [];
  specs.forEach((spec, column) => {
    if (terms.length > MAX_TERMS) {
      return;
    }
    const counts = new Int32Array(spec.bins);
    for (const row of rows) {
      counts[columns[column]![row]!]!++;
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

/** The column itself, standardised, with missing values at its mean, and whether it is missing. */
function orderedTerms(column: number, center: Float64Array, counts: Int32Array, rows: number): Term[] {
  const terms: Term[] = [];
  const known = rows - counts[0]!;
  let mean = 0;
  let spread = 0;
  for (let bin = 1; bin < counts.length; bin++) {
    mean += (center[bin]! * counts[bin]!) / known;
  }
  for (let bin = 1; bin < counts.length; bin++) {
    spread += (square(center[bin]! - mean) * counts[bin]!) / known;
  }
  if (spread > 0 && Number.isFinite(spread)) {
    const scale = Math.sqrt(spread) / (counts.length <= 3 ? Math.min(1, Math.sqrt(spread) / 0.15) : 1);
    const limit = (z: number) => Math.max(-5, Math.min(5, z));
    terms.push({
      column,
      values: center.map((value, bin) => (bin === 0 ? 0 : limit((value - mean) / scale))),
    });
  }
  const least = Math.min(counts[0]!, known);
  if (least >= 3) {
    const share = counts[0]! / rows;
    terms.push({ column, values: center.map((_, bin) => (bin === 0 ? 1 : 0) - share) });
  }
  return terms;
}

/** The commonest categories, one term each. */
function categoryTerms(column: number, counts: Int32Array): Term[] {
  const common = Array.from(counts.keys())
    .filter((bin) => counts[bin]! >= 3)
    .sort((a, b) => counts[b]! - counts[a]! || a - b)
    .slice(0, 50);
  if (common.length < 2) {
    return [];
  }
  return common.map((bin) => {
    const values = new Float64Array(counts.length);
    values[bin] = 1;
    return { column, values };
  });
}

/** A row of numbers per train row: 1, then the terms. */
function makeDesign(terms: Term[], { columns, rows }: LinearInput): Float64Array {
  const size = terms.length + 1;
  const design = new Float64Array(rows.length * size);
  for (let i = 0; i < rows.length; i++) {
    design[i * size] = 1;
  }
  terms.forEach(({ column, values }, t) => {
    const bins = columns[column]!;
    for (let i = 0; i < rows.length; i++) {
      design[i * size + t + 1] = values[bins[rows[i]!]!]!;
    }
  });
  return design;
}

function penalised(products: Float64Array, size: number, factor: number, penalty: number): Float64Array {
  const matrix = products.map((value) => value * factor);
  for (let i = 0; i < size; i++) {
    matrix[i * size + i]! += i === 0 ? 1e-6 : penalty;
  }
  return cholesky(matrix, size);
}

function leastSquares(
  { rows, target }: LinearInput,
  design: Float64Array,
  products: Float64Array,
  size: number,
  penalty: number,
  weights: Float64Array,
): void {
  weights.fill(0);
  for (let i = 0; i < rows.length; i++) {
    const value = target[rows[i]!]!;
    for (let j = 0; j < size; j++) {
      weights[j]! += design[i * size + j]! * value;
    }
  }
  solve(penalised(products, size, 1, penalty), size, weights);
}

/**
 * Logistic regression by steps with a fixed bound of the curvature (D. Böhning, 1992): one factorisation for all
 * steps, and the loss never rises. Starts from `weights`.
 */
function logistic(
  { rows, target, objective: { width } }: LinearInput,
  design: Float64Array,
  products: Float64Array,
  size: number,
  penalty: number,
  steps: number,
  weights: Float64Array,
): void {
  const factor = penalised(products, size, width === 1 ? 0.25 : 0.5, penalty);
  const gradient = new Float64Array(size * width);
  const scores = new Float64Array(width);
  const one = new Float64Array(size);
  for (let step = 0; step < steps; step++) {
    for (let k = 0; k < width; k++) {
      for (let j = 0; j < size; j++) {
        gradient[k * size + j] = j === 0 ? 0 : penalty * weights[k * size + j]!;
      }
    }
    for (let i = 0; i < rows.length; i++) {
      const code = target[rows[i]!]!;
      const at = i * size;
      for (let k = 0; k < width; k++) {
        let score = 0;
        for (let j = 0; j < size; j++) {
          score += weights[k * size + j]! * design[at + j]!;
        }
        scores[k] = score;
      }
      if (width === 1) {
        scores[0] = sigmoid(scores[0]!) - code;
      } else {
        softmax(scores, 0, width, scores, 0);
        scores[code]! -= 1;
      }
      for (let k = 0; k < width; k++) {
        const error = scores[k]!;
        for (let j = 0; j < size; j++) {
          gradient[k * size + j]! += error * design[at + j]!;
        }
      }
    }
    let largest = 0;
    for (let k = 0; k < width; k++) {
      one.set(gradient.subarray(k * size, (k + 1) * size));
      solve(factor, size, one);
      for (let j = 0; j < size; j++) {
        weights[k * size + j]! -= one[j]!;
        largest = Math.max(largest, Math.abs(one[j]!));
      }
    }
    if (largest < 1e-4) {
      break;
    }
  }
}

function makeTables(terms: Term[], weights: Float64Array, width: number, specs: ColumnSpec[]): LinearTables {
  const at = new Int32Array(specs.length).fill(-1);
  let length = 0;
  for (const { column } of terms) {
    if (at[column]! >= 0) {
      continue;
    }
    at[column] = length;
    length += specs[column]!.bins * width;
  }
  const size = terms.length + 1;
  const scores = new Float32Array(length);
  const base = new Float64Array(width);
  for (let k = 0; k < width; k++) {
    base[k] = weights[k * size]!;
    terms.forEach(({ column, values }, t) => {
      const weight = weights[k * size + t + 1]!;
      values.forEach((value, bin) => (scores[at[column]! + bin * width + k]! += weight * value));
    });
  }
  return { base, at, scores };
}

/** Adds `weight` times the model's scores of a row to `out[to …]`. */
export function addLinearScores(
  tables: LinearTables,
  columns: Uint8Array[],
  row: number,
  weight: number,
  out: Float64Array,
  to: number,
): void {
  const { base, at, scores } = tables;
  const width = base.length;
  for (let k = 0; k < width; k++) {
    out[to + k]! += weight * base[k]!;
  }
  for (let column = 0; column < at.length; column++) {
    const from = at[column]!;
    if (from < 0) {
      continue;
    }
    const cell = from + columns[column]![row]! * width;
    for (let k = 0; k < width; k++) {
      out[to + k]! += weight * scores[cell + k]!;
    }
  }
}
