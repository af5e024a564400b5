import type { Member, Part } from '../../model/members';
import { candidatesOf, sumOfParts } from '../candidates/candidates';
import { type FoldResult, foldRows } from '../candidates/fold';
import { gaussianOf } from '../candidates/gaussian';
import { keptTrees } from '../candidates/randomised';
import type { PreparedFit } from '../preparation/prepare';
import { chooseWeights, type StackInput } from '../stacking/stacking';
import { leastLeft } from '../stacking/wild-errors';
import { finishClassification } from './classification';
import { MAX_SAMPLED } from './out-of-fold';
import { type StackedFit, stackedRegression } from './regression';

/**
 * Combines all folds of `prepared` (in any order) into a model, but for the distribution of its residuals: weighs the candidates
 * by their out-of-fold scores (stacking), calibrates the result on the same scores, and reports on it.
 */
export function stack(prepared: PreparedFit, results: FoldResult[]): StackedFit {
  const folds = [...results].sort((a, b) => a.fold - b.fold);
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
  const { metric } = prepared.settings.thinking ?? {};
  const costly = candidates.findIndex(({ name }) => name === 'randomised');
  const input = {
    ...stackInput(prepared, rows, scores, width),
    extra: candidates.map(({ isExtra }) => isExtra === true),
    costly: costly < 0 ? undefined : costly,
  };
  const weights = chooseWeights(input, prepared.classes.length, metric);
  const members = folds.map((_, m): Member => {
    const parts = candidates.flatMap((candidate, c) =>
      candidate.parts[m].map((part) => ({ ...trimmed(part, prepared), weight: weights[c] })),
    );
    return { weight: 1 / folds.length, width, parts: parts.filter((part) => part.weight > 0) };
  });
  const mixed = new Float64Array(rows.length * width);
  scores.forEach((one, c) => {
    for (let i = 0; i < mixed.length; i++) {
      mixed[i] += weights[c] * one[i];
    }
  });
  const outOfFold = { rows, width, scores: mixed, candidates, weights };
  if (prepared.task === 'classification') {
    return {
      residuals: undefined,
      reportAhead: () => undefined,
      finish: () => finishClassification(prepared, folds, members, outOfFold),
    };
  }
  return stackedRegression(prepared, folds, members, outOfFold);
}

/** Drops the trees of a part that were only grown to score held-out rows. */
function trimmed(part: Part, { plan }: PreparedFit): Part {
  return part.kind === 'votes'
    ? { ...part, trees: keptTrees(part.trees, plan.randomised?.scored ?? 1) }
    : part;
}

/** Every n-th row of very many. */
function stackInput(
  prepared: PreparedFit,
  rows: Int32Array,
  scores: Float64Array[],
  width: number,
): StackInput {
  const step = Math.ceil(rows.length / MAX_SAMPLED);
  const chosen = Int32Array.from({ length: Math.floor((rows.length + step - 1) / step) }, (_, i) => i * step);
  const regression = prepared.task === 'regression';
  const target = regression ? prepared.values : prepared.codes;
  return {
    scores: scores.map((one) => {
      const out = new Float64Array(chosen.length * width);
      chosen.forEach((row, i) => {
        out.set(one.subarray(row * width, (row + 1) * width), i * width);
      });
      return out;
    }),
    width,
    target: Float64Array.from(chosen, (i) => target[rows[i]]),
    regression,
  };
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
