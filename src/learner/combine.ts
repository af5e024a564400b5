import { fitTemperature } from './calibrate';
import { foldRows, type FoldResult } from './fold';
import { featureImportance } from './importance';
import { ensembleProbabilities, memberScores, probabilities, type Member } from './members';
import type { Model } from './model';
import { STREAM, type Prepared } from './prepare';
import { Random } from './random';
import { fitResiduals } from './residuals';
import { classificationScores, regressionScores } from './scores';
import { firstTrees } from './trees';
import type { FitReport, Scores } from './types';

/** Rows that some fold held out, and that fold's scores of them. */
interface OutOfFold {
  rows: Int32Array;
  width: number;
  scores: Float64Array;
  /** Index of the member that scored each row. */
  member: Int32Array;
}

/** Joins all folds of `prepared` (in any order) to a model, with its calibration and report. */
export function combine(prepared: Prepared, results: FoldResult[]): Model {
  const folds = [...results].sort((a, b) => a.fold - b.fold);
  const iterations = commonIterations(folds.map((fold) => fold.boosted.curve));
  const members = folds.map(({ boosted }): Member => {
    const width = boosted.base.length;
    return {
      weight: 1 / folds.length,
      base: boosted.base,
      trees: firstTrees(boosted.trees, Math.min(iterations, boosted.iterations) * width),
    };
  });
  const outOfFold = scoreHeldOut(prepared, folds, members);
  return prepared.task === 'classification'
    ? finishClassification(prepared, folds, members, outOfFold)
    : finishRegression(prepared, folds, members, outOfFold);
}

/**
 * One number of iterations for all folds, where the mean of their held-out losses is least: each fold's own best
 * would follow the luck of its few held-out rows. A fold that ended early keeps its last loss.
 */
function commonIterations(curves: Float64Array[]): number {
  const longest = Math.max(...curves.map((curve) => curve.length));
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < longest; i++) {
    let sum = 0;
    for (const curve of curves) sum += curve[Math.min(i, curve.length - 1)]!;
    if (sum < least) {
      least = sum;
      best = i;
    }
  }
  return best;
}

function scoreHeldOut(prepared: Prepared, folds: FoldResult[], members: Member[]): OutOfFold {
  const width = members[0]!.base.length;
  const lists = folds.map((fold) => foldRows(prepared, fold.fold).heldOut);
  const count = lists.reduce((sum, list) => sum + list.length, 0);
  const rows = new Int32Array(count);
  const scores = new Float64Array(count * width);
  const member = new Int32Array(count);
  let at = 0;
  lists.forEach((list, m) => {
    rows.set(list, at);
    scores.set(memberScores(members[m]!, prepared.columns, list), at * width);
    member.fill(m, at, at + list.length);
    at += list.length;
  });
  return { rows, width, scores, member };
}

function finishClassification(
  prepared: Prepared,
  folds: FoldResult[],
  members: Member[],
  outOfFold: OutOfFold,
): Model {
  const { settings, codes, classes } = prepared;
  const count = classes.length;
  const actual = outOfFold.rows.map((row) => codes[row]!);
  const { width, scores } = outOfFold;
  const temperature = settings.temperature ?? fitTemperature(scores, actual, width, count);
  const priors = new Float64Array(count);
  for (const code of codes) priors[code]! += 1 / codes.length;
  const probas = probabilities(scores, width, count, temperature);
  if (settings.balance) balance(probas, priors);
  const trivial = Float64Array.from({ length: actual.length * count }, (_, i) => priors[i % count]!);
  const how = { classes: count, temperature, averageScores: settings.averageScores };
  const sample = sampleOf(prepared, outOfFold);
  const sampleCodes = sample.map((row) => codes[row]!);
  const lossOf = (columns: Uint8Array[]) => {
    const p = ensembleProbabilities(members, columns, sample, how);
    return classificationScores(p, sampleCodes, count).log_loss ?? 0;
  };
  const report = makeReport(prepared, folds, members, {
    scores: classificationScores(probas, actual, count),
    baseline: classificationScores(trivial, actual, count),
    lossOf,
    sample,
    extraWork: 0,
  });
  return {
    ...commonParts(prepared, members, report),
    temperature,
    averageScores: settings.averageScores,
    priors: settings.balance ? priors : undefined,
    residuals: undefined,
    borders: undefined,
  };
}

/** Divides probabilities by the frequency of their class, and makes each row sum to 1 again. */
export function balance(probas: Float64Array, priors: Float64Array): void {
  const classes = priors.length;
  for (let at = 0; at < probas.length; at += classes) {
    let sum = 0;
    for (let k = 0; k < classes; k++) {
      const p = priors[k]! > 0 ? probas[at + k]! / priors[k]! : 0;
      probas[at + k] = p;
      sum += p;
    }
    for (let k = 0; k < classes; k++) probas[at + k] = sum > 0 ? probas[at + k]! / sum : 1 / classes;
  }
}

function finishRegression(
  prepared: Prepared,
  folds: FoldResult[],
  members: Member[],
  outOfFold: OutOfFold,
): Model {
  const { values, center, scale, settings } = prepared;
  const { rows, scores } = outOfFold;
  const actual = Float64Array.from(rows, (row) => values[row]!);
  const residuals = actual.map((value, i) => value - scores[i]!);
  const input = { columns: prepared.columns, specs: prepared.specs, rows, predicted: scores, residuals };
  const fit = fitResiduals(input, new Random(settings.seed, STREAM.residuals));
  const own = (scaled: Float64Array) => scaled.map((value) => center + scale * value);
  const measured = regressionScores(own(scores), own(actual));
  measured.pinball = fit.pinball * scale;
  measured.coverage_80 = fit.coverage80;
  const sample = sampleOf(prepared, outOfFold);
  const lossOf = (columns: Uint8Array[]) => {
    let sum = 0;
    for (const member of members) {
      memberScores(member, columns, sample).forEach((score, i) => {
        sum += (member.weight * (score - values[sample[i]!]!) ** 2) / sample.length;
      });
    }
    return sum;
  };
  const report = makeReport(prepared, folds, members, {
    scores: measured,
    baseline: regressionScores(new Float64Array(rows.length).fill(center), own(actual)),
    lossOf,
    sample,
    extraWork: fit.work,
  });
  return {
    ...commonParts(prepared, members, report),
    temperature: 1,
    averageScores: false,
    priors: undefined,
    residuals: fit.forest,
    borders: bucketBorders(values, fit.forest.atoms, center, scale),
  };
}

const BUCKETS = 400;

/** Borders of about equal counts of the target, drawn out at both ends by the outermost residuals. */
function bucketBorders(
  values: Float64Array,
  atoms: Float64Array,
  center: number,
  scale: number,
): Float64Array {
  const sorted = Float64Array.from(values).sort();
  const low = Math.min(0, atoms[0]!);
  const high = Math.max(0, atoms[atoms.length - 1]!);
  const first = sorted[0]! + low;
  const last = sorted[sorted.length - 1]! + high;
  const points = new Set<number>();
  const half = BUCKETS / 2;
  for (let i = 0; i <= half; i++) {
    points.add(center + scale * sorted[Math.round((i * (sorted.length - 1)) / half)]!);
    points.add(center + scale * (first + ((last - first) * i) / half));
  }
  const margin = Math.max(1e-9, Math.abs(center) * 1e-9, scale * 1e-6);
  points.add(center + scale * first - margin);
  points.add(center + scale * last + margin);
  return Float64Array.from(points).sort();
}

/** Rows for permutation importance: at most 1,000 of those that were held out. */
function sampleOf(prepared: Prepared, { rows }: OutOfFold): Int32Array {
  const random = new Random(prepared.settings.seed, STREAM.importance);
  return random.sample(rows.length, 1000).map((i) => rows[i]!);
}

function commonParts(prepared: Prepared, members: Member[], report: FitReport) {
  const { task, classes, features, encoders, center, scale } = prepared;
  return { task, classes, features, encoders, members, report, center, scale };
}

function makeReport(
  prepared: Prepared,
  folds: FoldResult[],
  members: Member[],
  parts: {
    scores: Scores;
    baseline: Scores;
    lossOf: (columns: Uint8Array[]) => number;
    sample: Int32Array;
    extraWork: number;
  },
): FitReport {
  const { plan, settings } = prepared;
  const gains = new Float64Array(prepared.specs.length);
  for (const { boosted } of folds) boosted.gains.forEach((gain, column) => (gains[column]! += gain));
  const limited = folds.some((fold) => fold.boosted.limited);
  const reasons = [...plan.reasons];
  if (limited) reasons.push('Boosting ended at the work budget before the held-out loss stopped falling.');
  return {
    task: prepared.task,
    rows: prepared.rows,
    features: prepared.features.length,
    estimators: folds.length,
    trees: members.reduce((sum, member) => sum + member.trees.roots.length, 0),
    scores: parts.scores,
    baseline: parts.baseline,
    importance: featureImportance(prepared, gains, parts.sample, parts.lossOf),
    options: { used: settings.used, ignored: settings.ignored },
    work: {
      units: folds.reduce((sum, fold) => sum + fold.boosted.work, parts.extraWork),
      budget: plan.workBudget,
      limited: reasons.length > 0,
      reasons,
    },
  };
}
