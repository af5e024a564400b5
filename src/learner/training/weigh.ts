import { type Calibration, fitCalibration, toProbabilities } from '../calibration/calibrate';
import { indices } from '../math/order';
import type { Part } from '../model/model';
import { STACKING } from '../tuned';
import { candidatesOf, gaussianOf, type LearnedCandidate, type Process, sumOfParts } from './candidates';
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
  /** The process that is the last candidate, by kernels that have not seen the rows; undefined where there is none. */
  unseen: (() => Process | undefined) | undefined;
}

/** Weighs the candidates by their out-of-fold scores. A Gaussian process joins them where the others leave enough. */
export function weigh(prepared: PreparedFit, folds: FoldResult[]): Weighed {
  const candidates = candidatesOf(prepared, folds);
  const heldOut = folds.map((fold) => foldRows(prepared, fold.fold).heldOut);
  const scoresOf = (parts: Part[][]) => {
    const scores = parts.map((own, m) => sumOfParts(own, prepared, heldOut[m]));
    return join(scores, new Float64Array(lengthOf(scores)));
  };
  const scores = candidates.map(({ parts }) => scoresOf(parts));
  const rows = join(heldOut, new Int32Array(lengthOf(heldOut)));
  const left = () =>
    leastLeft(
      scores,
      Float64Array.from(rows, (row) => prepared.values[row]),
    );
  const gaussian = gaussianOf(prepared, folds, left);
  if (gaussian) {
    candidates.push({ name: 'process', parts: gaussian.parts, work: gaussian.work });
    scores.push(scoresOf(gaussian.parts));
  }
  const width = candidates[0].parts[0][0].base.length;
  const weights = weightsOf(prepared, candidates, { rows, scores, width });
  return { candidates, weights, width, rows, scores, scoresOf, unseen: gaussian?.unseen };
}

function weightsOf(
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
  /** Rows × width: the weighted sum of the candidates' scores. */
  scores: Float64Array;
  /** The same by the model's own kernel, which has seen the rows. */
  ofModel: Float64Array;
  candidates: LearnedCandidate[];
  /** Their weights. */
  weights: Float64Array;
}

/**
 * The scores that are told: of rows that no kernel has seen. Those by which candidates are weighed stay as they are: the others
 * would leave out good processes.
 */
export function told({ candidates, weights, width, rows, scores, scoresOf, unseen }: Weighed): OutOfFold {
  const last = candidates.length - 1;
  const ofModel = weightedSum(scores, weights);
  const found = weights[last] > 0 ? unseen?.() : undefined;
  if (found === undefined) {
    return { rows, width, scores: ofModel, ofModel, candidates, weights };
  }
  const process = { ...candidates[last], work: candidates[last].work + found.work };
  return {
    rows,
    width,
    scores: weightedSum([...scores.slice(0, last), scoresOf(found.parts)], weights),
    ofModel,
    candidates: [...candidates.slice(0, last), process],
    weights,
  };
}

/** Calibrates out-of-fold scores, or those of every n-th row of very many. @param codes the class of each row */
export function calibrate(
  scores: Float64Array,
  width: number,
  codes: Int32Array,
  priors: Float64Array,
): Pick<Calibration, 'temperature' | 'noise'> {
  const step = Math.ceil(codes.length / STACKING.rows);
  if (step <= 1) {
    return fitCalibration(scores, codes, width, priors);
  }
  const chosen = indices(Math.ceil(codes.length / step)).map((i) => i * step);
  return fitCalibration(
    scoresAt(scores, width, chosen),
    chosen.map((i) => codes[i]),
    width,
    priors,
  );
}

/**
 * The probabilities of held-out rows that are told: those of a part by weights and a calibration of all other parts. The model's
 * own have seen the class of each row, and of a few hundred rows promise too much.
 *
 * @param ofModel rows × classes: the probabilities by the model's own weights and `calibration`
 */
export function toldProbabilities(
  prepared: PreparedFit,
  { candidates, rows, scores, width }: Weighed,
  calibration: Calibration,
  ofModel: Float64Array,
): Float64Array {
  if (rows.length > STACKING.rowsApart) {
    return ofModel;
  }
  const { part, codes, plan } = prepared;
  const count = calibration.priors.length;
  const out = ofModel.slice();
  for (let held = 0; held < plan.parts; held++) {
    const own = indices(rows.length).filter((i) => part[rows[i]] === held);
    const others = indices(rows.length).filter((i) => part[rows[i]] !== held);
    if (own.length === 0 || others.length === 0) {
      continue;
    }
    const at = (chosen: Int32Array) => scores.map((one) => scoresAt(one, width, chosen));
    const ofOthers = { rows: others.map((i) => rows[i]), scores: at(others), width };
    const weights = weightsOf(prepared, candidates, ofOthers);
    const fitted = calibrate(
      weightedSum(ofOthers.scores, weights),
      width,
      ofOthers.rows.map((row) => codes[row]),
      calibration.priors,
    );
    const probas = toProbabilities(weightedSum(at(own), weights), width, { ...calibration, ...fitted });
    own.forEach((i, of) => out.set(probas.subarray(of * count, (of + 1) * count), i * count));
  }
  return out;
}

/** Every n-th row of very many. */
function stackInput(
  prepared: PreparedFit,
  rows: Int32Array,
  scores: Float64Array[],
  width: number,
): StackInput {
  const step = Math.ceil(rows.length / STACKING.rows);
  const chosen = indices(Math.ceil(rows.length / step)).map((i) => i * step);
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

function lengthOf(lists: { length: number }[]): number {
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
