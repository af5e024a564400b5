import { type Calibration, fitCalibration, toProbabilities } from '../calibration/calibrate';
import { indices } from '../math/order';
import { memberScores, type Part } from '../model/model';
import { STACKING } from '../tuned';
import { fitGaussian, gatherCandidates, type LearnedCandidate, type Process } from './candidates';
import { type FoldResult, foldRows } from './fold';
import type { PreparedFit } from './prepare';
import { chooseWeights, leastLeft, type StackInput, weightedSum } from './stacking';

/** The candidates of a fit, and how much each counts. */
export interface Weighed {
  candidates: LearnedCandidate[];
  weights: Float64Array;
  /** Scores per row. */
  width: number;
  /** The rows that folds held out, one fold after the other. */
  rows: Int32Array;
  /** Candidates × (rows × width): the out-of-fold scores. */
  scores: Float64Array[];
  /** The same of other parts, folds × parts: rows × width. */
  scoresOf: (parts: Part[][]) => Float64Array;
  /** The same as `scores` where the rows that are scored have no say in iterations and penalties. */
  scoresApart: () => Float64Array[];
  /** The process that is the last candidate, by kernels that have not seen the rows; undefined where there is none. */
  unseen: (() => Process | undefined) | undefined;
}

/** Weighs the candidates by their out-of-fold scores. A Gaussian process joins them where the others leave enough. */
export function weigh(prepared: PreparedFit, folds: FoldResult[]): Weighed {
  const candidates = gatherCandidates(prepared, folds);
  const heldOut = folds.map((fold) => foldRows(prepared, fold.fold).heldOut);
  const scoresOf = (parts: Part[][]) => {
    const scores = parts.map((own, m) =>
      memberScores({ weight: 1, width: own[0].base.length, parts: own }, prepared, heldOut[m]),
    );
    return join(scores, new Float64Array(sumLengths(scores)));
  };
  const scores = candidates.map(({ parts }) => scoresOf(parts));
  const rows = join(heldOut, new Int32Array(sumLengths(heldOut)));
  const left = () =>
    leastLeft(
      scores,
      Float64Array.from(rows, (row) => prepared.values[row]),
    );
  const gaussian = fitGaussian(prepared, folds, left);
  if (gaussian) {
    candidates.push({ name: 'process', parts: gaussian.parts, work: gaussian.work });
    scores.push(scoresOf(gaussian.parts));
  }
  const width = candidates[0].parts[0][0].base.length;
  const weights = findWeights(prepared, candidates, { rows, scores, width });
  const scoresApart = () => {
    const apart = folds.map((_, m) => gatherCandidates(prepared, folds, folds.length > 1 ? m : undefined));
    return candidates.map(({ name }, c) =>
      name === 'randomised' || name === 'process'
        ? scores[c]
        : scoresOf(folds.map((_, m) => apart[m][c].parts[m])),
    );
  };
  return { candidates, weights, width, rows, scores, scoresOf, scoresApart, unseen: gaussian?.unseen };
}

function findWeights(
  prepared: PreparedFit,
  candidates: LearnedCandidate[],
  { rows, scores, width }: Pick<Weighed, 'rows' | 'scores' | 'width'>,
): Float64Array {
  const costly = candidates.findIndex(({ name }) => name === 'randomised');
  const input = {
    ...stackInput(prepared, rows, scores, width),
    costly: costly < 0 ? undefined : costly,
  };
  const { metric } = prepared.settings.thinking ?? {};
  return chooseWeights(input, prepared.classes.length, metric);
}

/** The rows that folds held out, each scored by the fold that did not learn from it. */
export interface OutOfFold {
  rows: Int32Array;
  width: number;
  /** Rows × width: the weighted sum of the candidates' scores, as it is told. */
  scores: Float64Array;
  /** The same by the model's own weights, and by kernels that have not seen the rows. */
  unseen: Float64Array;
  /** The same by the model's own kernel, which has seen the rows. */
  ofModel: Float64Array;
  candidates: LearnedCandidate[];
  /** Their weights. */
  weights: Float64Array;
}

/**
 * The scores of numbers that are told: of rows that neither a kernel, nor weights, iterations and penalties have seen. Those by
 * which candidates are weighed stay as they are: the others would leave out good processes.
 */
export function told(prepared: PreparedFit, weighed: Weighed): OutOfFold {
  const { candidates, weights, width, rows, scores, scoresOf } = weighed;
  const last = candidates.length - 1;
  const ofModel = weightedSum(scores, weights);
  const found = weights[last] > 0 ? weighed.unseen?.() : undefined;
  const ofProcess = found && scoresOf(found.parts);
  const unseen = ofProcess ? weightedSum([...scores.slice(0, last), ofProcess], weights) : ofModel;
  const process = found && { ...candidates[last], work: candidates[last].work + found.work };
  const told = unseen.slice();
  for (const { own, weights, scores } of partsApart(prepared, weighed, ofProcess)) {
    const sum = weightedSum(scores, weights);
    own.forEach((i, of) => (told[i] = sum[of]));
  }
  return {
    rows,
    width,
    scores: told,
    unseen,
    ofModel,
    candidates: process ? [...candidates.slice(0, last), process] : candidates,
    weights,
  };
}

interface PartApart {
  /** The rows of a part: their places among those that were held out. */
  own: Int32Array;
  /** Their scores: candidates × (rows × width). */
  scores: Float64Array[];
  /** All others. */
  others: Int32Array;
  /** The sum of the others' scores by `weights`. */
  ofOthers: Float64Array;
  /** Of the candidates, by the others. */
  weights: Float64Array;
}

/**
 * Each part that folds held out, with what all other parts say of it: of a few hundred rows, weights, iterations and penalties that
 * have seen their target promise too much. None where rows are many.
 *
 * @param ofProcess the scores of the process that is the last candidate, by kernels that have not seen the rows
 */
function* partsApart(
  prepared: PreparedFit,
  { candidates, rows, scores, width, scoresApart }: Weighed,
  ofProcess?: Float64Array,
): Generator<PartApart> {
  const { part, plan } = prepared;
  if (rows.length > STACKING.rowsApart) {
    return;
  }
  const apart = scoresApart();
  const told = ofProcess ? [...apart.slice(0, -1), ofProcess] : apart;
  for (let held = 0; held < plan.parts; held++) {
    const own = indices(rows.length).filter((i) => part[rows[i]] === held);
    const others = indices(rows.length).filter((i) => part[rows[i]] !== held);
    if (own.length === 0 || others.length === 0) {
      continue;
    }
    const at = (chosen: Int32Array, of: Float64Array[]) => of.map((one) => scoresAt(one, width, chosen));
    const known = at(others, scores);
    const input = { rows: others.map((i) => rows[i]), scores: known, width };
    const weights = findWeights(prepared, candidates, input);
    yield { own, scores: at(own, told), others, ofOthers: weightedSum(known, weights), weights };
  }
}

/** Calibrates out-of-fold scores, or those of every n-th row of very many. @param codes the class of each row */
export function calibrate(
  scores: Float64Array,
  width: number,
  codes: Int32Array,
  priors: Float64Array,
): Pick<Calibration, 'temperature' | 'noise'> {
  const chosen = notTooMany(codes.length);
  return fitCalibration(
    scoresAt(scores, width, chosen),
    chosen.map((i) => codes[i]),
    width,
    priors,
  );
}

/**
 * The probabilities of held-out rows that are told: those of a part by weights, iterations and a calibration of all other parts.
 *
 * @param ofModel rows × classes: the probabilities by the model's own weights and `calibration`
 */
export function toldProbabilities(
  prepared: PreparedFit,
  weighed: Weighed,
  calibration: Calibration,
  ofModel: Float64Array,
): Float64Array {
  const { rows, width } = weighed;
  const count = calibration.priors.length;
  const out = ofModel.slice();
  for (const { own, scores, others, ofOthers, weights } of partsApart(prepared, weighed)) {
    const fitted = calibrate(
      ofOthers,
      width,
      others.map((i) => prepared.codes[rows[i]]),
      calibration.priors,
    );
    const probas = toProbabilities(weightedSum(scores, weights), width, { ...calibration, ...fitted });
    own.forEach((i, of) => out.set(probas.subarray(of * count, (of + 1) * count), i * count));
  }
  return out;
}

/** The places of all rows, or of every n-th of very many. */
function notTooMany(rows: number): Int32Array {
  const step = Math.max(1, Math.ceil(rows / STACKING.rows));
  return indices(Math.ceil(rows / step)).map((i) => i * step);
}

function stackInput(
  prepared: PreparedFit,
  rows: Int32Array,
  scores: Float64Array[],
  width: number,
): StackInput {
  const chosen = notTooMany(rows.length);
  const regression = prepared.task === 'regression';
  const target = regression ? prepared.values : prepared.codes;
  return {
    scores: scores.map((one) => scoresAt(one, width, chosen)),
    width,
    target: Float64Array.from(chosen, (i) => target[rows[i]]),
    regression,
  };
}

/** The scores of some of the rows. */
function scoresAt(scores: Float64Array, width: number, rows: Int32Array): Float64Array {
  const out = new Float64Array(rows.length * width);
  rows.forEach((row, i) => out.set(scores.subarray(row * width, (row + 1) * width), i * width));
  return out;
}

function sumLengths(lists: { length: number }[]): number {
  return lists.reduce((sum, list) => sum + list.length, 0);
}

/** Concatenates lists into `out`. */
function join<List extends Float64Array | Int32Array>(lists: List[], out: List): List {
  let at = 0;
  for (const list of lists) {
    out.set(list, at);
    at += list.length;
  }
  return out;
}
