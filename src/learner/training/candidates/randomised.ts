import type { ColumnSpec } from '../../features/encode';
import type { LearnedLinear } from '../../linear/linear';
import { Random } from '../../math/random';
import { type Part, partScores } from '../../model/members';
import type { Boosted } from '../../trees/boosting/boost';
import type { Objective } from '../../trees/boosting/loss';
import { growRandomised, type Randomised } from '../../trees/randomised/randomised';
import { firstTrees, type Trees } from '../../trees/trees';
import { giveUp, isGivenUp, type PreparedFit, STREAM } from '../preparation/prepare';
import { RANDOMISED } from '../tuned';

/** Step of a fold's random stream, after those of the boosted candidates. */
const STEP = 901;
const TRIAL_STEP = 902;

interface FoldInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  objective: Objective;
  rows: Int32Array;
  heldOut: Int32Array;
}

/**
 * The extremely randomised trees of a fold. Undefined if the plan has none, or if a few of them do not improve the
 * held-out loss of the first boosted candidate, or of the linear model if that is better.
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
  const grow = () => growRandomised(input, { ...rules, trees: rules.trees * rules.scored }, random(STEP));
  if (rows.length < RANDOMISED.trial.rows || boosted === undefined) {
    return grow();
  }
  const rival = better(partOf(boosted, objective.width), linear);
  const trial = growRandomised(input, { ...rules, trees: RANDOMISED.trial.trees }, random(TRIAL_STEP));
  const kind = regression ? 'trees' : 'votes';
  const parts: Part[] = [
    { ...rival.part, weight: 1 - RANDOMISED.trial.share },
    { kind, weight: RANDOMISED.trial.share, base: trial.base, trees: trial.trees },
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

function partOf({ base, trees, curve }: Boosted, width: number): Rival {
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
