import type { ColumnSpec } from '../../features/encode';
import type { LearnedLinear } from '../../linear/linear';
import { Random } from '../../math/random';
import { type Part, partScores } from '../../model/members';
import type { Boosted } from '../../trees/boosting/boost';
import type { Objective } from '../../trees/boosting/loss';
import { growRandomised, type Randomised } from '../../trees/randomised/randomised';
import { firstTrees, type Trees } from '../../trees/trees';
import { type PreparedFit, STREAM } from '../preparation/prepare';

/** Steps of the random stream of a fold, beyond those of the boosted candidates. */
const STEP = 901;
const TRIAL_STEP = 902;
/** From so many rows on a few trees are tried first. Of fewer rows a fold holds out too few to judge by. */
const TRIED_ROWS = 1000;
const TRIAL_TREES = 6;
/** The share of them in the score that they are judged by. */
const TRIAL_SHARE = 0.25;

interface FoldInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  objective: Objective;
  rows: Int32Array;
  heldOut: Int32Array;
}

/**
 * Extremely randomised trees of a fold; undefined where the plan has none, or where a few of them do not lower the
 * held-out loss of the first boosted candidate, or of the linear model where that is better.
 */
export function randomisedOf(
  prepared: PreparedFit,
  fold: number,
  { columns, specs, objective, rows, heldOut }: FoldInput,
  boosted: Boosted | undefined,
  linear: LearnedLinear | undefined,
): Randomised | undefined {
  const { plan, centers, classes, settings } = prepared;
  const rules = plan.randomised;
  if (rules === undefined) {
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
  const grow = () => growRandomised(input, { ...rules, trees: rules.trees * rules.scored }, random(STEP));
  if (rows.length < TRIED_ROWS || boosted === undefined) {
    return grow();
  }
  const rival = better(partOf(boosted, objective.width), linear);
  const trial = growRandomised(input, { ...rules, trees: TRIAL_TREES }, random(TRIAL_STEP));
  const kind = regression ? 'trees' : 'votes';
  const parts: Part[] = [
    { ...rival.part, weight: 1 - TRIAL_SHARE },
    { kind, weight: TRIAL_SHARE, base: trial.base, trees: trial.trees },
  ];
  const { width } = objective;
  const scores = new Float64Array(prepared.rows * width);
  for (const part of parts) {
    const own = partScores(part, prepared, heldOut);
    heldOut.forEach((row, i) => {
      for (let k = 0; k < width; k++) {
        scores[row * width + k] += part.weight * own[i * width + k];
      }
    });
  }
  return objective.loss(scores, heldOut) < rival.loss ? grow() : undefined;
}

/** Those of a fold's randomised trees that its model keeps, of all that scored the rows held out. */
export function keptTrees(trees: Trees, scored: number): Trees {
  if (scored === 1) {
    return trees;
  }
  const kept = firstTrees(trees, trees.roots.length / scored);
  return { ...kept, values: kept.values.map((value) => value * scored) };
}

interface Rival {
  part: Part;
  /** On the rows held out. */
  loss: number;
}

function partOf({ base, trees, curve }: Boosted, width: number): Rival {
  const loss = Math.min(...curve);
  const kept = firstTrees(trees, curve.indexOf(loss) * (width / trees.width));
  return { part: { kind: 'trees', weight: 1, base, trees: kept }, loss };
}

/** The linear model, where it is the better one. */
function better(rival: Rival, linear: LearnedLinear | undefined): Rival {
  const loss = linear ? Math.min(...linear.curve) : Infinity;
  if (linear === undefined || loss >= rival.loss) {
    return rival;
  }
  const tables = linear.tables[linear.curve.indexOf(loss)];
  return { part: { kind: 'linear', weight: 1, base: tables.base, tables }, loss };
}
