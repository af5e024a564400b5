import type { ModelCurves } from '../../../metrics/curves';
import { type HeldOutLosses, heldOutLosses } from '../../../metrics/held-out-losses';
import { inBlocks } from '../../../metrics/loss-range';
import { areNeighboursAlike, type ScoredRows } from '../../../metrics/neighbours';
import type { Scores } from '../../../metrics/scores';
import type { Thresholds } from '../../../metrics/thresholds';
import { argsort } from '../../math/order';
import type { Member, Part } from '../../model/members';
import type { FeatureImportance, FitReport } from '../../types';
import type { LearnedCandidate } from '../candidates/candidates';
import type { FoldResult } from '../candidates/fold';
import type { PreparedFit } from '../preparation/prepare';
import { type CopyLosses, featureImportance, lineGains, otherGains } from './importance';

/** The importance of the features. `lossesOf` scores copies of the sampled rows. */
export function importanceOf(
  prepared: PreparedFit,
  folds: FoldResult[],
  members: Member[],
  {
    candidates,
    weights,
    sample,
    lossesOf,
  }: { candidates: LearnedCandidate[]; weights: Float64Array; sample: Int32Array; lossesOf: CopyLosses },
): FeatureImportance[] {
  const gains = new Float64Array(prepared.specs.length);
  candidates.forEach(({ boosted }, c) => {
    for (const own of boosted ?? []) {
      own.gains.forEach((gain, column) => (gains[column] += weights[c] * gain));
    }
  });
  otherGains(prepared, folds, members).forEach((gain, column) => (gains[column] += gain));
  if (prepared.plan.lineFirst !== undefined) {
    lineGains(prepared, members, sample).forEach((gain, column) => (gains[column] += gain));
  }
  return featureImportance(prepared, gains, sample, lossesOf);
}

/** Which held-out rows are alike, those of a block or a group: undefined where they were drawn one by one and tell apart. */
export function rowsTogether(prepared: PreparedFit, heldOut: ScoredRows): Int32Array | undefined {
  const { clusters, rows } = prepared;
  if (clusters) {
    return Int32Array.from(heldOut.rows, (row) => clusters.of[row]);
  }
  return areNeighboursAlike(inOrder(heldOut)) ? inBlocks(heldOut.rows, rows) : undefined;
}

/** The report of a fit. */
export function makeReport(
  prepared: PreparedFit,
  folds: FoldResult[],
  members: Member[],
  parts: {
    scores: Scores;
    baseline: Scores;
    growth?: FitReport['growth'];
    curves: ModelCurves;
    /** Of `importanceOf`. */
    importance: FeatureImportance[];
    /** The held-out rows, in the order of the folds. */
    heldOut: ScoredRows;
    /** Of `rowsTogether`. */
    together: Int32Array | undefined;
    /** The loss of each of them; undefined if errors grow with their level. */
    losses: Float64Array | undefined;
    thresholds?: Thresholds;
    candidates: LearnedCandidate[];
    /** Of what is learned beside the candidates. */
    extraWork: number;
  },
): FitReport {
  const { plan, settings } = prepared;
  const limited = folds.some(({ boosted }) => boosted.some((run) => run?.limited));
  const reasons = [...plan.reasons];
  if (folds.some(({ boosted }) => boosted.includes(undefined))) {
    reasons.push('Thinking ended at its timeout, so the model depends on the speed of this machine.');
  }
  if (limited) {
    reasons.push('Boosting reached its work budget before the held-out loss stopped falling.');
  }
  const areAlike = prepared.learnsNeighbours || (!prepared.clusters && parts.together !== undefined);
  return {
    task: prepared.task,
    rows: prepared.rows,
    ...(prepared.copies > 0 && { repeated_rows: prepared.copies }),
    features: prepared.features.length,
    estimators: folds.length,
    trees: members.reduce((sum, { parts }) => sum + treesIn(parts), 0),
    scores: parts.scores,
    baseline: parts.baseline,
    growth: parts.growth,
    curves: parts.curves,
    folds: foldsOf(prepared),
    ...(areAlike && { neighbours_alike: true }),
    thresholds: parts.thresholds,
    losses: lossesInTable(prepared, parts.heldOut.rows, parts.losses),
    importance: parts.importance,
    options: { used: settings.used, ignored: settings.ignored },
    work: {
      units: parts.candidates.reduce((sum, { work }) => sum + work, parts.extraWork),
      budget: plan.workBudget,
      limited: reasons.length > 0,
      reasons,
    },
  };
}

/** The indices that sort rows by their position in the table. */
export function tableOrder(rows: ArrayLike<number>): Int32Array {
  return argsort(Float64Array.from(rows));
}

/** Only if rows were held out by order or by group. */
function lossesInTable(
  { clusters, groups }: PreparedFit,
  rows: ArrayLike<number>,
  losses: Float64Array | undefined,
): HeldOutLosses | undefined {
  if (clusters === undefined || losses === undefined) {
    return undefined;
  }
  const order = tableOrder(rows);
  const inTable = Float64Array.from(order, (i) => losses[i]);
  return groups
    ? heldOutLosses(inTable, { of: order.map((i) => groups.of[rows[i]]), count: groups.count })
    : heldOutLosses(inTable);
}

/** Scored rows in the order of the table. */
function inOrder({ rows, target, width, error }: ScoredRows): ScoredRows {
  const order = tableOrder(rows);
  return {
    rows: order.map((i) => rows[i]),
    target: Float64Array.from(order, (i) => target[i]),
    width,
    error: (i, output) => error(order[i], output),
  };
}

/** How rows were held out. */
function foldsOf({ clusters, groups, plan }: PreparedFit): FitReport['folds'] {
  if (!clusters) {
    return { by: 'random', parts: plan.parts };
  }
  const { kind, count, embargo } = clusters;
  return kind === 'groups'
    ? { by: kind, parts: plan.parts, groups: count }
    : { by: kind, parts: plan.parts, blocks: count, embargo, ...(groups && { groups: groups.count }) };
}

function treesIn(parts: Part[]): number {
  return parts.reduce((sum, part) => sum + ('trees' in part ? part.trees.roots.length : 0), 0);
}
