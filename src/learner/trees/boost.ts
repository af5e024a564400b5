import type { ColumnSpec } from '../features/encode';
import type { Random } from '../math/random';
import { BOOSTING } from '../tuned';
import { Grower, type GrownLeaf, type GrowRules, weakCategories } from './grow';
import { GrowSpace } from './grow-space';
import type { Objective } from './loss';
import { roundToGrid, TreeBuilder, type Trees } from './trees';

export interface BoostRules extends GrowRules {
  learningRate: number;
  maxIterations: number;
  /** Iterations without a better held-out loss after which boosting ends. */
  patience: number;
  /** How much the held-out loss must improve within those, as a fraction of the loss without trees. */
  minImprovement: number;
  /** Iterations after which it must improve by the fraction `BOOSTING.longGain`. */
  longAfter: number;
  /** Fraction of the rows, and of the columns, that each tree sees. */
  rowSample: number;
  columnSample: number;
  /** Random projections of the gradients by which one tree for all outputs is grown; 0: a tree per output. */
  sketch: number;
  /** Limit of this run's work, in histogram updates. */
  workBudget: number;
}

/** A boosted ensemble: per iteration a tree for each output in turn, or one whose leaves hold all outputs. */
export interface Boosted {
  /** outputs: the score before the first tree. */
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

interface BoostInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  objective: Objective;
  /** Rows to learn from and rows held out for early stopping. */
  rows: Int32Array;
  heldOut: Int32Array;
  tableRows: number;
  /** rows × outputs, row-major: what each row's score begins with instead of the base. */
  start?: Float64Array;
  onIteration?: (iteration: number) => void;
}

/** Cost of computing one probability (a row, a class), in histogram updates. */
export const SCORING_WORK = 16;

/** What one run of boosting keeps from iteration to iteration. */
interface Run {
  objective: Objective;
  tableRows: number;
  rules: BoostRules;
  random: Random;
  /** rows × outputs, row-major; all rows of the table. */
  scores: Float64Array;
  /**
   * Its gradients are those of outputs, or of the sketch. Its sample is what the next tree is grown from, the rest all
   * other rows whose scores it changes.
   */
  space: GrowSpace;
  grower: Grower;
  builder: TreeBuilder;
  gains: Float64Array;
  /** Columns with at least two different bins among the rows: only they can split. */
  usable: Int32Array;
  weak: Uint8Array | undefined;
  /** How many of them a tree may split by. */
  picked: number;
  /** sampled rows × outputs × 2: gradient and hessian of every output, for trees of all outputs. */
  perRow: Float32Array;
  /** Of the leaves of one output's tree. */
  values: Float64Array;
}

/** Gradient boosting (J. H. Friedman, 2001) with Newton leaves, stopped early on the held-out rows. */
export function boost(input: BoostInput, rules: BoostRules, random: Random): Boosted {
  const { columns, specs, rows, heldOut } = input;
  const sampleSize = Math.max(1, Math.round(rows.length * rules.rowSample));
  const usable = usableColumns(columns, specs, rows);
  const picked = Math.max(1, Math.ceil(usable.length * rules.columnSample));
  const space = new GrowSpace({
    columns,
    specs,
    tableRows: input.tableRows,
    width: rules.sketch || 1,
    outputs: input.objective.width,
    rows: sampleSize,
    outOfSample: rows.length - sampleSize + heldOut.length,
    all: rows,
    picked,
  });
  try {
    return boostIn(space, input, rules, random, { usable, picked });
  } finally {
    space.close();
  }
}

function boostIn(
  space: GrowSpace,
  input: BoostInput,
  rules: BoostRules,
  random: Random,
  { usable, picked }: Pick<Run, 'usable' | 'picked'>,
): Boosted {
  const { specs, objective, rows, heldOut, tableRows } = input;
  const { width } = objective;
  const base = input.start ? new Float64Array(width) : objective.base(rows);
  const weak = weakCategories(input, space);
  const { scores } = space;
  if (input.start) {
    scores.set(input.start);
  } else {
    scores.fill(0);
  }
  for (let i = 0; i < scores.length; i++) {
    scores[i] += base[i % width];
  }
  const sampleSize = space.sample.length;
  // Named one by one: runs copied from inputs of several shapes would make the engine compile its users again and again.
  const run: Run = {
    objective,
    tableRows,
    rules,
    random,
    scores,
    space,
    grower: new Grower(specs, rules.sketch || 1, space),
    builder: new TreeBuilder(rules.sketch ? width : 1),
    gains: new Float64Array(specs.length),
    usable,
    weak,
    picked,
    perRow: new Float32Array(rules.sketch ? sampleSize * width * 2 : 0),
    values: new Float64Array(rules.maxLeaves),
  };
  const curve = [objective.loss(scores, heldOut)];
  let best = curve[0];
  let bestIteration = 0;
  let limited = false;
  let scoring = 0;
  for (let iteration = 1; iteration <= rules.maxIterations && run.usable.length > 0; iteration++) {
    space.draw(random);
    space.outOfSample.set(heldOut, rows.length - sampleSize);
    if (rules.sketch) {
      addMultiOutputTree(run);
    } else {
      for (let output = 0; output < width; output++) {
        addTree(run, output);
      }
    }
    const loss = objective.loss(scores, heldOut);
    curve.push(loss);
    input.onIteration?.(iteration);
    const asked = iteration > rules.longAfter ? BOOSTING.longGain * best : rules.minImprovement * curve[0];
    if (loss < best - asked) {
      best = loss;
      bestIteration = iteration;
    } else if (iteration - bestIteration >= rules.patience) {
      break;
    }
    scoring += (sampleSize + heldOut.length) * width * SCORING_WORK;
    if (run.grower.work + scoring > rules.workBudget) {
      limited = iteration < rules.maxIterations;
      break;
    }
  }
  return {
    base,
    trees: run.builder.finish(),
    iterations: curve.length - 1,
    curve: Float64Array.from(curve),
    gains: run.gains,
    work: run.grower.work + scoring,
    limited,
  };
}

/** Adds a tree for one output, and its leaf values to the scores of all rows, sampled or not. */
function addTree(run: Run, output: number): void {
  const { rules, random, scores, builder, objective, space, weak } = run;
  const { sample, outOfSample, gradHess } = space;
  const picked = pickColumns(run, random);
  objective.gradHess(scores, sample, output, gradHess);
  space.quantise();
  const leaves = run.grower.grow(
    { rows: sample, outOfSample, picked, rules, weak, random },
    builder,
    run.gains,
  );
  const { values } = run;
  values.fill(0);
  for (let l = 0; l < leaves.length; l++) {
    const { sums } = leaves[l];
    values[l] = (-rules.learningRate * sums[0]) / (sums[1] + rules.lambda);
  }
  roundToGrid([values]);
  for (let l = 0; l < leaves.length; l++) {
    const leaf = leaves[l];
    builder.setLeaf(leaf.node, [values[l]]);
    space.addToScores(output, sample, leaf.start, leaf.end, values[l]);
    space.addToScores(output, outOfSample, leaf.outOfSampleStart, leaf.outOfSampleEnd, values[l]);
  }
}

/**
 * Adds one tree for all outputs, grown by a few random projections of their gradients (L. Iosipoi and A. Vakhrushev,
 * SketchBoost, 2022), so that the work does not grow with the number of classes. Its leaves hold a value per output.
 */
function addMultiOutputTree(run: Run): void {
  const { rules, random, scores, builder, objective, weak } = run;
  const { sample, outOfSample, gradHess } = run.space;
  const { width } = objective;
  const picked = pickColumns(run, random);
  const signs = Float64Array.from({ length: width * rules.sketch }, () => (random.uniform() < 0.5 ? -1 : 1));
  const stride = rules.sketch + 1;
  const placeOf = new Int32Array(run.tableRows);
  for (let place = 0; place < sample.length; place++) {
    const row = sample[place];
    const at = place * width * 2;
    placeOf[row] = at;
    objective.rowGradHess!(scores, row, run.perRow, at);
    sumBySigns(run.perRow, at, signs, width, gradHess, row * stride);
    gradHess[row * stride + rules.sketch] = 1;
  }
  run.space.quantise();
  const leaves = run.grower.grow(
    { rows: sample, outOfSample, picked, rules, weak, random },
    builder,
    run.gains,
  );
  const values = leaves.map((leaf) => leafValues(run, sample, leaf, placeOf));
  roundToGrid(values);
  leaves.forEach((leaf, l) => {
    builder.setLeaf(leaf.node, values[l]);
    addToRows(scores, sample, leaf.start, leaf.end, values[l]);
    addToRows(scores, outOfSample, leaf.outOfSampleStart, leaf.outOfSampleEnd, values[l]);
  });
}

/** Adds a leaf's values, one per output, to the scores of `rows[start … end - 1]`. */
function addToRows(
  scores: Float64Array,
  rows: Int32Array,
  start: number,
  end: number,
  values: Float32Array,
): void {
  for (let i = start; i < end; i++) {
    const at = rows[i] * values.length;
    for (let k = 0; k < values.length; k++) {
      scores[at + k] += values[k];
    }
  }
}

/** Projects a row's gradients on each set of random signs. */
function sumBySigns(
  perRow: Float32Array,
  at: number,
  signs: Float64Array,
  width: number,
  out: Float64Array,
  to: number,
): void {
  for (let from = 0; from < signs.length; from += width) {
    let sum = 0;
    for (let k = 0; k < width; k++) {
      sum += perRow[at + k * 2] * signs[from + k];
    }
    out[to++] = sum;
  }
}

/** Newton step of every output: minus the sum of gradients over the sum of hessians. */
function leafValues(run: Run, sample: Int32Array, leaf: GrownLeaf, placeOf: Int32Array): Float32Array {
  const { rules, objective, perRow } = run;
  const sums = new Float64Array(objective.width * 2);
  for (let i = leaf.start; i < leaf.end; i++) {
    const from = placeOf[sample[i]];
    for (let d = 0; d < sums.length; d++) {
      sums[d] += perRow[from + d];
    }
  }
  return Float32Array.from(
    { length: objective.width },
    (_, k) => (-rules.learningRate * sums[k * 2]) / (sums[k * 2 + 1] + rules.lambda),
  );
}

function usableColumns(columns: Uint8Array[], specs: ColumnSpec[], rows: Int32Array): Int32Array {
  const usable: number[] = [];
  for (let column = 0; column < specs.length; column++) {
    const bins = columns[column];
    const first = bins[rows[0] ?? 0];
    if (rows.some((row) => bins[row] !== first)) {
      usable.push(column);
    }
  }
  return Int32Array.from(usable);
}

function pickColumns({ usable, picked }: Run, random: Random): Int32Array {
  return picked >= usable.length ? usable : random.sample(usable.length, picked).map((i) => usable[i]);
}
