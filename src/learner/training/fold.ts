import type { ColumnSpec } from '../features/encode';
import { fitLinear, type LearnedLinear, linearScores, type LinearTables } from '../linear/linear';
import { indices } from '../math/order';
import { Random } from '../math/random';
import { memberScores, type Part } from '../model/model';
import { boost, type Boosted, type BoostRules } from '../trees/boost';
import { classLogLoss, type Objective, squaredError } from '../trees/loss';
import { growRandomised, type Randomised } from '../trees/randomised';
import { firstTrees, type Trees } from '../trees/trees';
import { OF_FOLD, RANDOMISED, WORK } from '../tuned';
import { LearnerError } from '../types';
import { embargoed } from './parts';
import { sampleSize } from './plan';
import { giveUp, isGivenUp, type PreparedFit, STREAM } from './prepare';

/** What one fold learned. Structured-cloneable. */
export interface FoldResult {
  readonly fold: number;
  /** One per boosted candidate of the plan. */
  boosted: Boosted[];
  /** The candidate for little noise; undefined where there is more. */
  lowNoise: Boosted | undefined;
  linear: LearnedLinear | undefined;
  /** The linear model that the plan's `lineFirst` begins with. */
  line: LinearTables | undefined;
  /** Undefined where it is not worth its time. */
  randomised: Randomised | undefined;
}

interface FoldHooks {
  onProgress?: (fraction: number) => void;
  shouldStop?: () => boolean;
}

function makeObjective(prepared: PreparedFit): Objective {
  if (prepared.task === 'regression') {
    return squaredError(prepared.values);
  }
  return classLogLoss(prepared.codes, prepared.classes.length);
}

/** The rows of a fold: those it learns from, and those it holds out. */
export function foldRows(prepared: PreparedFit, fold: number): { rows: Int32Array; heldOut: Int32Array } {
  if (prepared.plan.parts < 2) {
    const all = indices(prepared.rows);
    return { rows: all, heldOut: all };
  }
  const { part, clusters } = prepared;
  const near = clusters && clusters.embargo > 0 ? embargoed(part, fold, clusters.embargo) : undefined;
  const [rows, heldOut] = dividedBy(part, fold, near);
  const { subsample, maxRows } = prepared.plan;
  const own = subsample.length > 0 ? subsample[fold % subsample.length] : rows.length;
  const allowed = typeof own === 'number' ? rows : intersect(rows, own, prepared, fold);
  const size = Math.min(maxRows, typeof own === 'number' ? sampleSize(own, rows.length) : allowed.length);
  if (size >= allowed.length) {
    return { rows: allowed, heldOut };
  }
  const random = new Random(prepared.settings.seed, STREAM.fold + fold, 1);
  return { rows: random.sample(allowed.length, size).map((i) => allowed[i]), heldOut };
}

/** The rows of other parts that are not near, and the rows of a part. */
function dividedBy(part: Uint8Array, own: number, near: Uint8Array | undefined): [Int32Array, Int32Array] {
  const [others, held] = [new Int32Array(part.length), new Int32Array(part.length)];
  let [other, heldOut] = [0, 0];
  for (let row = 0; row < part.length; row++) {
    if (part[row] === own) {
      held[heldOut++] = row;
    } else if (near?.[row] !== 1) {
      others[other++] = row;
    }
  }
  return [others.slice(0, other), held.slice(0, heldOut)];
}

/** Those of `rows` that are listed. */
function intersect(rows: Int32Array, listed: Int32Array, prepared: PreparedFit, fold: number): Int32Array {
  const marked = new Uint8Array(prepared.rows);
  for (const row of listed) {
    if (row >= prepared.rows) {
      throw new LearnerError(
        `Option inference_config.SUBSAMPLE_SAMPLES names row ${row} (from 0); there are ${prepared.rows} rows.`,
      );
    }
    marked[row] = 1;
  }
  const allowed = rows.filter((row) => marked[row] === 1);
  if (allowed.length > 0) {
    return allowed;
  }
  throw new LearnerError(
    `Option inference_config.SUBSAMPLE_SAMPLES leaves estimator ${fold + 1} no row beside those it is tested on.`,
  );
}

/** As many rows, drawn at random, as the candidates beside the boosted ones may learn from. */
function drawSome(rows: Int32Array, most: number, { settings }: PreparedFit, fold: number): Int32Array {
  if (rows.length <= most) {
    return rows;
  }
  const random = new Random(settings.seed, STREAM.fold + fold, OTHER_ROWS_STEP);
  return random.sample(rows.length, most).map((i) => rows[i]);
}

/** A sample of the held-out rows where there are many classes: scoring all of them would cost as much as the trees. */
function watchedRows(heldOut: Int32Array, width: number, random: Random): Int32Array {
  const count = Math.max(1000, Math.floor(WORK.watched / width));
  return random.sample(heldOut.length, count).map((i) => heldOut[i]);
}

/** Steps of the random stream of a fold, beyond those of the candidates. */
const LOW_NOISE_STEP = 900;
const OTHER_ROWS_STEP = 903;

/** The part of the trivial held-out loss that a candidate saves at its best. */
function explainedBy({ curve }: Boosted): number {
  return curve.length > 0 && curve[0] > 0 ? 1 - Math.min(...curve) / curve[0] : 0;
}

function findLowest(curve: Float64Array): number {
  return curve.indexOf(Math.min(...curve));
}

/** How far a run of boosting is, 0 to 1: half after so many of its usual iterations, as most runs end between 70 and 510. */
function partOfRun(iteration: number, { longAfter }: BoostRules): number {
  return iteration / (iteration + OF_FOLD.halfOfRun * longAfter);
}

/** Trains one fold. The result depends on `prepared` and `fold` alone: the same bits wherever it runs. */
export function trainFold(prepared: PreparedFit, fold: number, hooks: FoldHooks = {}): FoldResult {
  const { columns, specs, plan, settings } = prepared;
  const { rows, heldOut } = foldRows(prepared, fold);
  const objective = makeObjective(prepared);
  const watched = watchedRows(heldOut, objective.width, new Random(settings.seed, STREAM.fold + fold, 1000));
  const common = { columns, specs, objective, rows, heldOut: watched, tableRows: prepared.rows };
  const others = { ...common, rows: drawSome(rows, plan.otherRows, prepared, fold) };
  const stopIfAsked = () => {
    if (hooks.shouldStop?.()) {
      throw new LearnerError('The fit was stopped.');
    }
  };
  const { lowNoise } = plan;
  const most =
    plan.boosts.length +
    (plan.linear ? OF_FOLD.linear : 0) +
    (lowNoise && !isGivenUp(prepared, 'low noise') ? 1 : 0) +
    (plan.randomised && !isGivenUp(prepared, 'randomised') ? OF_FOLD.randomised : 0);
  let done = 0;
  const tell = (part = 0) => hooks.onProgress?.(Math.min(1, (done + part) / most));
  const finished = <T>(learned: T, part: number): T => {
    done += part;
    tell();
    return learned;
  };
  const regression = prepared.task === 'regression';
  const target = regression ? prepared.values : prepared.codes;
  const linear = plan.linear
    ? finished(
        fitLinear({
          ...others,
          numbers: prepared.numbers,
          centers: prepared.centers,
          bothWays: plan.lineFirst !== undefined,
          target,
          regression,
        }),
        OF_FOLD.linear,
      )
    : undefined;
  const line = plan.lineFirst !== undefined && linear ? linear.tables[findLowest(linear.curve)] : undefined;
  const boosted = plan.boosts.map((rules, run) => {
    const onIteration = (iteration: number) => {
      stopIfAsked();
      tell(partOfRun(iteration, rules));
    };
    const start =
      line && run === plan.lineFirst ? linearScores(line, prepared, indices(prepared.rows)) : undefined;
    const input = { ...common, start, onIteration };
    return finished(boost(input, rules, new Random(settings.seed, STREAM.fold + fold, run)), 1);
  });
  const random = new Random(settings.seed, STREAM.fold + fold, LOW_NOISE_STEP);
  if (lowNoise === undefined || explainedBy(boosted[0]) < lowNoise.minExplained) {
    giveUp(prepared, 'low noise');
  }
  const isQuiet = lowNoise && !isGivenUp(prepared, 'low noise');
  const onIteration = (iteration: number) => {
    stopIfAsked();
    tell(partOfRun(iteration, lowNoise!.rules));
  };
  const ofLowNoise = isQuiet
    ? finished(boost({ ...others, onIteration }, lowNoise.rules, random), 1)
    : undefined;
  const onTree = (part: number) => {
    stopIfAsked();
    tell(OF_FOLD.randomised * part);
  };
  const randomised = growIfWorthIt(prepared, fold, { ...others, onTree }, boosted[0], linear);
  return {
    fold,
    boosted,
    lowNoise: ofLowNoise,
    linear,
    line,
    randomised,
  };
}

/** Step of a fold's random stream, after those of the boosted candidates. */
const STEP = 901;
const TRIAL_STEP = 902;

interface FoldInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  objective: Objective;
  rows: Int32Array;
  heldOut: Int32Array;
  onTree: (part: number) => void;
}

/**
 * The extremely randomised trees of a fold. Undefined if the plan has none, or if a few of them do not improve the
 * held-out loss of the first boosted candidate, or of the linear model if that is better.
 */
function growIfWorthIt(
  prepared: PreparedFit,
  fold: number,
  { columns, specs, objective, rows, heldOut, onTree }: FoldInput,
  boosted: Boosted,
  linear: LearnedLinear | undefined,
): Randomised | undefined {
  const { plan, centers, classes, settings } = prepared;
  const rules = plan.randomised;
  if (rules === undefined || isGivenUp(prepared, 'randomised')) {
    return undefined;
  }
  const regression = prepared.task === 'regression';
  const input = {
    columns,
    specs,
    centers,
    rows,
    target: regression ? prepared.values : prepared.codes,
    classes: classes.length,
    base: regression ? objective.base(rows) : new Float64Array(objective.width),
  };
  const random = (step: number) => new Random(settings.seed, STREAM.fold + fold, step);
  const grow = () =>
    growRandomised({ ...input, onTree }, { ...rules, trees: rules.trees * rules.scored }, random(STEP));
  if (rows.length < RANDOMISED.trial.rows) {
    return grow();
  }
  const rival = better(cutAtBest(boosted, objective.width), linear);
  const trial = growRandomised(input, { ...rules, trees: RANDOMISED.trial.trees }, random(TRIAL_STEP));
  const kind = regression ? 'trees' : 'votes';
  const parts: Part[] = [
    { ...rival.part, weight: 1 - RANDOMISED.trial.share },
    { kind, weight: RANDOMISED.trial.share, base: trial.base, trees: trial.trees },
  ];
  const { width } = objective;
  const own = memberScores({ weight: 1, width, parts }, prepared, heldOut);
  const scores = new Float64Array(prepared.rows * width);
  heldOut.forEach((row, i) => scores.set(own.subarray(i * width, (i + 1) * width), row * width));
  if (objective.loss(scores, heldOut) < rival.loss) {
    return grow();
  }
  giveUp(prepared, 'randomised');
  return undefined;
}

/** Those of a fold's trees that the model keeps, out of all that scored the held-out rows. */
export function keptTrees(trees: Trees, scored: number): Trees {
  if (scored === 1) {
    return trees;
  }
  const kept = firstTrees(trees, trees.roots.length / scored);
  return { ...kept, values: kept.values.map((value) => value * scored) };
}

interface Rival {
  part: Part;
  /** On the held-out rows. */
  loss: number;
}

function cutAtBest({ base, trees, curve }: Boosted, width: number): Rival {
  const loss = Math.min(...curve);
  const kept = firstTrees(trees, curve.indexOf(loss) * (width / trees.width));
  return { part: { kind: 'trees', weight: 1, base, trees: kept }, loss };
}

/** The linear model, if it is the better one. */
function better(rival: Rival, linear: LearnedLinear | undefined): Rival {
  const loss = linear ? Math.min(...linear.curve) : Infinity;
  if (linear === undefined || loss >= rival.loss) {
    return rival;
  }
  const tables = linear.tables[linear.curve.indexOf(loss)];
  return { part: { kind: 'linear', weight: 1, base: tables.base, tables }, loss };
}
