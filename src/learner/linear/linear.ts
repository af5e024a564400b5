import type { ColumnSpec, EncodedTable } from '../features/encode';
import { closing, openScratch, type Scratch } from '../kernels/scratch';
import { gram, solve } from '../math/matrix';
import { square } from '../math/numeric';
import type { Objective } from '../trees/loss';
import { LINEAR } from '../tuned';
import {
  findClip,
  isLine,
  makeDesign,
  makeTerm,
  makeTerms,
  MAX_TERMS,
  MOST_DEVIATIONS,
  sparse,
  standardised,
  type Term,
  type TermInput,
  type TermRule,
} from './design';
import { logistic, PenalisedGram, SparseSlopes } from './logistic';

/**
 * A linear model: slopes for the values of numeric columns, and a lookup table for the other columns. The score that
 * a bin adds to each output is at `scores[at[column] + bin * width + output]`. `at[column]` is -1 for columns without
 * such a term.
 */
export interface LinearTables {
  base: Float64Array;
  at: Int32Array;
  scores: Float32Array;
  /** Missing in models fitted before there were any. */
  lines?: Lines;
  /** The terms that the scores were computed from. Missing in models fitted before they were kept. */
  terms?: LinearTerms;
}

/**
 * Scores linear in the standardised value of a column, which ranged from `lows` to `highs` in training. `weights`:
 * lines × outputs.
 */
export interface Lines {
  columns: Uint16Array;
  means: Float64Array;
  scales: Float64Array;
  lows: Float64Array;
  highs: Float64Array;
  /** Where values are clipped. Missing in models where all are clipped at the default. */
  mosts?: Float64Array;
  /**
   * A row with values that are clipped counts whole where this brings its only score nearer to the middle: clipping each
   * column would break a sum of them. Missing for classes, and in models fitted before.
   */
  wholeIfNearer?: true;
  weights: Float64Array;
}

/** Of numbers (docs/benchmarks/told.md, "Rows far outside"). */
export const WHOLE_IF_NEARER = { wholeIfNearer: true } as const;

/** The terms of a linear model. `weights`: terms × outputs. */
export interface LinearTerms {
  columns: Uint16Array;
  rules: TermRule[];
  /** As in `Lines`. */
  wholeIfNearer?: true;
  weights: Float32Array;
}

/** One model per penalty, largest first, and its loss on the held-out rows. */
export interface LearnedLinear {
  tables: LinearTables[];
  curve: Float64Array;
  work: number;
}

interface LinearInput extends TermInput {
  objective: Objective;
  /** Target per table row: values, or class codes. */
  target: ArrayLike<number>;
  regression: boolean;
  heldOut: Int32Array;
  tableRows: number;
  /**
   * Whether the models with outlying values clipped are followed by as many in which they count whole: held-out rows
   * then choose between them as they do between penalties.
   */
  bothWays?: boolean;
}

/** Ridge regression or penalised logistic regression. Undefined if the table is too wide or too long for it. */
export function fitLinear(input: LinearInput): LearnedLinear | undefined {
  const clipped = fitOneWay(input);
  if (clipped === undefined || input.bothWays !== true) {
    return clipped;
  }
  const whole = hasFarValues(clipped) ? fitOneWay({ ...input, whole: true })! : clipped;
  return {
    tables: [...clipped.tables, ...whole.tables],
    curve: Float64Array.of(...clipped.curve, ...whole.curve),
    work: clipped.work + (whole === clipped ? 0 : whole.work),
  };
}

/** Whether any column has values that are clipped. */
function hasFarValues({ tables: [{ lines }] }: LearnedLinear): boolean {
  const reach = (low: number, line: number) => Math.max(-low, lines!.highs[line]);
  return lines !== undefined && lines.lows.some((low, line) => reach(low, line) >= MOST_DEVIATIONS);
}

function fitOneWay(input: LinearInput): LearnedLinear | undefined {
  const count = input.rows.length;
  const isRoom = (terms: number) =>
    terms <= MAX_TERMS && (terms + 1) * (terms + 1) * count <= 2 * LINEAR.work;
  const terms = makeTerms(input, isRoom);
  const size = terms.length + 1;
  if (terms.length === 0 || !isRoom(terms.length)) {
    return undefined;
  }
  const { width } = input.objective;
  const design = makeDesign(terms, input);
  const classes = input.regression
    ? undefined
    : {
        design: sparse(design, size),
        size,
        width,
        codes: Int32Array.from(input.rows, (row) => input.target[row]),
      };
  // A step reads the sparse entries of each row twice, and solves for each output.
  const step = classes ? width * (2 * (classes.design.terms.length + count) + size * size) : 0;
  const steps = classes
    ? Math.min(LINEAR.steps.most, Math.floor(LINEAR.work / (step * LINEAR.penalties.length)))
    : 0;
  if (classes && steps < LINEAR.steps.least) {
    return undefined;
  }
  // Outputs × size.
  const weights = new Float64Array(width * size);
  const tables: LinearTables[] = [];
  const penalties = input.regression ? [...LINEAR.penalties, ...LINEAR.smallPenalties] : LINEAR.penalties;
  const curve = new Float64Array(penalties.length);
  const scores = new Float64Array(input.tableRows * width);
  const take = (i: number) => {
    const rule = input.regression ? WHOLE_IF_NEARER : {};
    const table = makeTables(terms, byTerm(weights, size), input.specs, { width, ...rule });
    const own = linearScores(table, input, input.heldOut);
    input.heldOut.forEach((row, i) => scores.set(own.subarray(i * width, (i + 1) * width), row * width));
    curve[i] = input.objective.loss(scores, input.heldOut);
    tables.push(table);
  };
  closing(new PenalisedGram(gram(design, count, size), size), (own) => {
    if (classes) {
      closing(new SparseSlopes(classes), (slopes) =>
        penalties.forEach((penalty, i) => {
          logistic(slopes, { ...classes, gram: own }, { penalty, steps }, weights);
          take(i);
        }),
      );
      return;
    }
    const projected = projectedTarget(input, design, size);
    penalties.forEach((penalty, i) => {
      weights.set(projected);
      solve(own.factor(1, penalty), size, weights);
      take(i);
    });
  });
  return { tables, curve, work: count * size * size + steps * step * LINEAR.penalties.length };
}

/** The products of each column of the design with the target. */
function projectedTarget({ rows, target }: LinearInput, design: Float64Array, size: number): Float64Array {
  const out = new Float64Array(size);
  for (let i = 0; i < rows.length; i++) {
    const value = target[rows[i]];
    for (let j = 0; j < size; j++) {
      out[j] += design[i * size + j] * value;
    }
  }
  return out;
}

/** Outputs × size as size × outputs. */
function byTerm(weights: Float64Array, size: number): Float64Array {
  const width = weights.length / size;
  return Float64Array.from(weights, (_, i) => weights[(i % width) * size + Math.floor(i / width)]);
}

/** @param weights (1 + terms) × outputs, the intercept first */
function makeTables(
  terms: Term[],
  weights: Float64Array,
  specs: ColumnSpec[],
  { width, wholeIfNearer }: { width: number } & Pick<Lines, 'wholeIfNearer'>,
): LinearTables {
  const at = new Int32Array(specs.length).fill(-1);
  let length = 0;
  for (const { column, rule } of terms) {
    if (isLine(rule) || at[column] >= 0) {
      continue;
    }
    at[column] = length;
    length += specs[column].bins * width;
  }
  const scores = new Float32Array(length);
  const kept = Float32Array.from(weights.subarray(width));
  for (let k = 0; k < width; k++) {
    for (let t = 0; t < terms.length; t++) {
      const { column, values } = terms[t];
      const weight = kept[t * width + k];
      for (let bin = 0, cell = at[column] + k; bin < values.length; bin++, cell += width) {
        scores[cell] += weight * values[bin];
      }
    }
  }
  return {
    base: weights.slice(0, width),
    at,
    scores,
    lines: { ...makeLines(terms, kept, width), ...(wholeIfNearer && { wholeIfNearer }) },
    terms: {
      columns: Uint16Array.from(terms, ({ column }) => column),
      rules: terms.map(({ rule }) => rule),
      ...(wholeIfNearer && { wholeIfNearer }),
      weights: kept,
    },
  };
}

function makeLines(terms: Term[], weights: Float32Array, width: number): Lines {
  const places = Array.from(terms.keys()).filter((t) => isLine(terms[t].rule));
  const rules = terms.map(({ rule }) => rule).filter(isLine);
  return {
    columns: Uint16Array.from(places, (t) => terms[t].column),
    means: Float64Array.from(rules, ({ mean }) => mean),
    scales: Float64Array.from(rules, ({ scale }) => scale),
    lows: Float64Array.from(rules, ({ low }) => low),
    highs: Float64Array.from(rules, ({ high }) => high),
    mosts: Float64Array.from(rules, findClip),
    weights: Float64Array.from(
      places.flatMap((t) => Array.from(weights.subarray(t * width, (t + 1) * width))),
    ),
  };
}

/** Rebuilds the tables of a stored model, to the bit. */
export function expandTerms(
  { columns, rules, wholeIfNearer, weights }: LinearTerms,
  base: Float64Array,
  specs: ColumnSpec[],
  centers: (Float64Array | null | undefined)[],
): LinearTables {
  const terms = rules.map((rule, t) => {
    const column = columns[t];
    return makeTerm(column, rule, specs[column].bins, centers[column] ?? undefined);
  });
  const all = new Float64Array(base.length + weights.length);
  all.set(base);
  all.set(weights, base.length);
  return makeTables(terms, all, specs, { width: base.length, wholeIfNearer });
}

/** The standardised value of a numeric term, before its weight: clipped, unless the row counts whole. */
export function valueAlong(lines: Lines, line: number, value: number, isWhole = false): number {
  const most = isWhole ? Infinity : lines.mosts?.[line];
  return standardised(value, lines.means[line], lines.scales[line], most);
}

/**
 * What a row's score gains by its values counting whole; 0 where they stay clipped, or none is. Where a column was clipped
 * while its weight was learned, values beyond say nothing.
 */
export function gainedWhole(lines: Lines, valueOf: (column: number) => number): number {
  if (lines.wholeIfNearer !== true) {
    return 0;
  }
  let [clipped, whole] = [0, 0];
  for (let line = 0; line < lines.columns.length; line++) {
    const value = valueOf(lines.columns[line]);
    const z = valueAlong(lines, line, value);
    const wholeZ = valueAlong(lines, line, value, true);
    if (z !== wholeZ && Math.max(-lines.lows[line], lines.highs[line]) >= Math.abs(z)) {
      return 0;
    }
    clipped += lines.weights[line] * z;
    whole += lines.weights[line] * wholeZ;
  }
  return Math.abs(whole) < Math.abs(clipped) ? whole - clipped : 0;
}

/** How far the numeric terms take a row's score beyond those of the values they were learned from. */
export function extrapolatedBy({ lines }: LinearTables, { numbers }: EncodedTable, row: number): number {
  let sum = 0;
  for (let line = 0; lines && line < lines.columns.length; line++) {
    const z = valueAlong(lines, line, numbers[lines.columns[line]]![row]);
    sum += lines.weights[line] * (z - Math.max(lines.lows[line], Math.min(lines.highs[line], z)));
  }
  return sum;
}

/** Per column, the variance over `rows` of what it adds to the only score. */
export function columnVariances(tables: LinearTables, table: EncodedTable, rows: Int32Array): Float64Array {
  const out = new Float64Array(tables.at.length);
  const own = new Float64Array(rows.length);
  const { at, scores, lines } = tables;
  for (let column = 0; column < out.length; column++) {
    const line = lines?.columns.indexOf(column) ?? -1;
    if (at[column] < 0 && line < 0) {
      continue;
    }
    rows.forEach((row, i) => {
      own[i] = at[column] < 0 ? 0 : scores[at[column] + table.columns[column][row]];
      if (lines && line >= 0) {
        own[i] += lines.weights[line] * valueAlong(lines, line, table.numbers[column]![row]);
      }
    });
    const mean = own.reduce((sum, value) => sum + value / own.length, 0);
    out[column] = own.reduce((sum, value) => sum + square(value - mean) / own.length, 0);
  }
  return out;
}

/** Below this many rows adding them one by one is faster, because the weights have to be copied first. */
const FEW_ROWS = 100;
/** Rows scored together, few enough to stay in the processor's cache. */
const BLOCK = 256;

/** The scores of rows, rows × outputs. */
export function linearScores(tables: LinearTables, table: EncodedTable, rows: Int32Array): Float64Array {
  const width = tables.base.length;
  const out = new Float64Array(rows.length * width);
  if (width > 1 && rows.length >= FEW_ROWS) {
    closing(openScratch(), (scratch) => addTogether(tables, table, rows, scratch, out));
  } else {
    addByColumn(tables, table, rows, out);
  }
  addWholeRows(tables, table, rows, out);
  return out;
}

/** Counts rows with clipped values whole where their score is nearer to the middle so. */
function addWholeRows(
  { lines }: LinearTables,
  { numbers }: EncodedTable,
  rows: Int32Array,
  out: Float64Array,
): void {
  if (lines?.wholeIfNearer !== true) {
    return;
  }
  const isClipped = new Uint8Array(rows.length);
  lines.columns.forEach((column, line) => {
    const values = numbers[column]!;
    const most = (lines.mosts?.[line] ?? MOST_DEVIATIONS) * lines.scales[line];
    const mean = lines.means[line];
    rows.forEach((row, i) => {
      isClipped[i] |= Math.abs(values[row] - mean) > most ? 1 : 0;
    });
  });
  rows.forEach((row, i) => {
    if (isClipped[i] === 1) {
      out[i] += gainedWhole(lines, (column) => numbers[column]![row]);
    }
  });
}

/** One column after the other: a row's scores are summed in the same order as by its columns. */
function addByColumn(
  { base, at, scores, lines }: LinearTables,
  { columns, numbers }: EncodedTable,
  rows: Int32Array,
  out: Float64Array,
): void {
  const width = base.length;
  for (let i = 0; i < out.length; i++) {
    out[i] += base[i % width];
  }
  for (let column = 0; column < at.length; column++) {
    if (at[column] >= 0) {
      const bins = columns[column];
      for (let i = 0, to = 0; i < rows.length; i++) {
        const cell = at[column] + bins[rows[i]] * width;
        for (let k = 0; k < width; k++, to++) {
          out[to] += scores[cell + k];
        }
      }
    }
  }
  for (let line = 0; lines && line < lines.columns.length; line++) {
    const values = numbers[lines.columns[line]]!;
    const { weights } = lines;
    const mean = lines.means[line];
    const scale = lines.scales[line];
    const most = lines.mosts?.[line];
    for (let i = 0, to = 0; i < rows.length; i++) {
      const z = standardised(values[rows[i]], mean, scale, most);
      for (let k = 0; k < width; k++, to++) {
        out[to] += z * weights[line * width + k];
      }
    }
  }
}

/** Of several outputs, to the same bits as row by row. */
function addTogether(
  { base, at, scores, lines }: LinearTables,
  { columns, numbers }: EncodedTable,
  rows: Int32Array,
  scratch: Scratch,
  out: Float64Array,
): void {
  const width = base.length;
  const used = Array.from(at.keys()).filter((column) => at[column] >= 0);
  const along = lines ? Array.from(lines.columns) : [];
  const { kernels } = scratch;
  const cells = scratch.floats(scores.length);
  cells.set(scores);
  const places = scratch.wholes(used.length * BLOCK);
  const weights = scratch.numbers(along.length * width);
  weights.set(lines?.weights ?? []);
  const factors = scratch.numbers(along.length * BLOCK);
  const sums = scratch.numbers(BLOCK * width);
  for (let start = 0; start < rows.length; start += BLOCK) {
    const count = Math.min(BLOCK, rows.length - start);
    for (let i = 0; i < count * width; i++) {
      sums[i] = base[i % width];
    }
    used.forEach((column, place) => {
      const bins = columns[column];
      for (let i = 0; i < count; i++) {
        places[place * count + i] = at[column] + bins[rows[start + i]] * width;
      }
    });
    along.forEach((column, line) => {
      const values = numbers[column]!;
      for (let i = 0; i < count; i++) {
        factors[line * count + i] = valueAlong(lines!, line, values[rows[start + i]]);
      }
    });
    const [cell, factor] = [places.byteOffset, factors.byteOffset];
    kernels.addLeaves(
      ...([cell, cell + used.length * count * 4, count * 4] as const),
      ...([cells.byteOffset, sums.byteOffset, width] as const),
    );
    kernels.addTerms(
      ...([factor, factor + along.length * count * 8, count * 8] as const),
      ...([weights.byteOffset, sums.byteOffset, width] as const),
    );
    out.set(sums.subarray(0, count * width), start * width);
  }
}
