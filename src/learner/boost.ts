import type { ColumnSpec } from './encode';
import { Grower, quantise, type GrowRules } from './grow';
import type { Objective } from './objective';
import type { Random } from './random';
import { leafOf, TreeBuilder, type Trees } from './trees';

export interface BoostRules extends GrowRules {
  learningRate: number;
  maxIterations: number;
  /** Iterations without a better held-out loss after which boosting ends. */
  patience: number;
  /** Part of the rows, and of the columns, that each tree sees. */
  rowSample: number;
  columnSample: number;
  /** Bound on this run's work, in histogram updates. */
  workBudget: number;
}

/** A boosted ensemble: `width` trees per iteration, an output each. */
export interface Boosted {
  base: Float64Array;
  trees: Trees;
  iterations: number;
  /** Held-out loss after 0, 1, 2 … iterations. */
  curve: Float64Array;
  /** Split gain by column. */
  gains: Float64Array;
  work: number;
  limited: boolean;
}

export interface BoostInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  objective: Objective;
  /** Rows to learn from and rows held out for early stopping. */
  rows: Int32Array;
  heldOut: Int32Array;
  tableRows: number;
  onIteration?: (iteration: number) => void;
}

/** Gradient boosting (J. H. Friedman, 2001) with Newton leaves, stopped early on the held-out rows. */
export function boost(input: BoostInput, rules: BoostRules, random: Random): Boosted {
  const { columns, specs, objective, rows, heldOut, tableRows } = input;
  const width = objective.width;
  const base = objective.base(rows);
  const scores = new Float64Array(tableRows * width);
  for (let i = 0; i < scores.length; i++) scores[i] = base[i % width]!;
  const derivatives = new Float64Array(tableRows * 2);
  const sampleSize = Math.max(1, Math.round(rows.length * rules.rowSample));
  const grower = new Grower(columns, specs, 1, sampleSize);
  const builder = new TreeBuilder(1);
  const gains = new Float64Array(specs.length);
  const usable = usableColumns(columns, specs, rows);
  const curve = [objective.loss(scores, heldOut)];
  let best = curve[0]!;
  let bestIteration = 0;
  let limited = false;
  const unsampled = new Uint8Array(tableRows);
  for (let iteration = 1; iteration <= rules.maxIterations && usable.length > 0; iteration++) {
    const sample = sampleRows(rows, sampleSize, random);
    unsampled.fill(1);
    for (const row of sample) unsampled[row] = 0;
    for (let output = 0; output < width; output++) {
      const picked = pickColumns(usable, rules.columnSample, random);
      objective.derivatives(scores, rows, output, derivatives);
      quantise(derivatives);
      const leaves = grower.grow(sample, derivatives, picked, rules, random, builder, gains);
      for (const leaf of leaves) {
        const value = (-rules.learningRate * leaf.sums[0]!) / (leaf.sums[1]! + rules.lambda);
        builder.setLeaf(leaf.node, [value]);
        const rounded = Math.fround(value);
        for (let i = leaf.start; i < leaf.end; i++) scores[sample[i]! * width + output]! += rounded;
      }
      const trees = builder.nodes;
      const root = builder.lastRoot;
      const walk = (row: number) => {
        scores[row * width + output]! += trees.values[leafOf(trees, root, columns, row)]!;
      };
      if (sampleSize < rows.length) for (const row of rows) if (unsampled[row] === 1) walk(row);
      for (const row of heldOut) walk(row);
    }
    const loss = objective.loss(scores, heldOut);
    curve.push(loss);
    input.onIteration?.(iteration);
    if (loss < best) {
      best = loss;
      bestIteration = iteration;
    } else if (iteration - bestIteration >= rules.patience) break;
    if (grower.work > rules.workBudget) {
      limited = iteration < rules.maxIterations;
      break;
    }
  }
  return {
    base,
    trees: builder.finish(),
    iterations: curve.length - 1,
    curve: Float64Array.from(curve),
    gains,
    work: grower.work,
    limited,
  };
}

/** Columns with at least two different bins among the rows: others cannot split anything. */
function usableColumns(columns: Uint8Array[], specs: ColumnSpec[], rows: Int32Array): Int32Array {
  const usable: number[] = [];
  for (let column = 0; column < specs.length; column++) {
    const bins = columns[column]!;
    const first = bins[rows[0] ?? 0];
    if (rows.some((row) => bins[row] !== first)) usable.push(column);
  }
  return Int32Array.from(usable);
}

function sampleRows(rows: Int32Array, size: number, random: Random): Int32Array {
  if (size >= rows.length) return rows.slice();
  return random.sample(rows.length, size).map((i) => rows[i]!);
}

function pickColumns(usable: Int32Array, part: number, random: Random): Int32Array {
  const count = Math.max(1, Math.ceil(usable.length * part));
  if (count >= usable.length) return usable;
  return random.sample(usable.length, count).map((i) => usable[i]!);
}
