import type { EncodedTable } from '../../features/encode';
import { columnVariances } from '../../linear/linear';
import { Random } from '../../math/random';
import type { Member } from '../../model/members';
import type { FeatureImportance } from '../../types';
import type { FoldResult } from '../candidates/fold';
import { type PreparedFit, STREAM } from '../preparation/prepare';

const MAX_FEATURES = 200;
const MAX_PERMUTED = 30;
/** Cells of the sample's copies that are scored together. */
const MAX_CELLS = 2_000_000;
/** No feature: an unshuffled copy. */
const AS_IT_IS = -1;

/**
 * The weight of a linear model's columns next to the splits of trees: the variance that each explains, counted as
 * often as boosting would count it, step by step.
 *
 * @param rows table rows to take the variance over
 */
export function lineGains(
  { columns, numbers, rows: count, plan }: PreparedFit,
  members: Member[],
  rows: Int32Array,
) {
  const gains = new Float64Array(columns.length);
  for (const member of members) {
    for (const part of member.parts) {
      if (part.kind === 'linear') {
        const factor =
          (member.weight * part.weight * count * members.length) / (2 * plan.boosts[0].learningRate);
        columnVariances(part.tables, { columns, numbers }, rows).forEach((variance, column) => {
          gains[column] += factor * variance;
        });
      }
    }
  }
  return gains;
}

/**
 * The weight of candidates that are neither boosted nor the linear model that boosting starts from: what the first
 * boosted candidate gained from the columns that they use, times their weight. A Gaussian process takes its columns
 * from it too.
 */
export function otherGains(
  { columns, plan }: PreparedFit,
  folds: FoldResult[],
  members: Member[],
): Float64Array {
  const gains = new Float64Array(columns.length);
  const [{ parts }] = members;
  for (const part of parts) {
    if (part.kind === 'trees' || (part.kind === 'linear' && plan.lineFirst !== undefined)) {
      continue;
    }
    const isUsed = (column: number) =>
      part.kind !== 'gaussian' || part.gaussian.kernel.columns.includes(column);
    for (const { boosted } of folds) {
      boosted[0]?.gains.forEach((gain, column) => (gains[column] += isUsed(column) ? part.weight * gain : 0));
    }
  }
  return gains;
}

/** Losses on copies of the sample, stored one after the other. One loss per copy. */
export type CopyLosses = (table: EncodedTable, copies: number) => number[];

/**
 * Importance of each feature: its share of the split gain and, for the 30 features with the most gain, how much the
 * loss of the sampled rows rises when its values are shuffled among them (permutation importance: L. Breiman, 2001).
 *
 * @param sample held-out table rows
 * @param lossesOf scores each row by the member that held it out
 */
export function featureImportance(
  prepared: PreparedFit,
  gains: Float64Array,
  sample: Int32Array,
  lossesOf: CopyLosses,
): FeatureImportance[] {
  const perFeature = new Float64Array(prepared.features.length);
  let total = 0;
  prepared.specs.forEach((spec, column) => {
    perFeature[spec.source] += gains[column];
    total += gains[column];
  });
  const order = Array.from(perFeature.keys()).sort((a, b) => perFeature[b] - perFeature[a] || a - b);
  // If nothing was ever split, nothing shows which features count.
  const permuted =
    total === 0
      ? order.slice(0, MAX_FEATURES)
      : order.slice(0, MAX_PERMUTED).filter((source) => perFeature[source] > 0);
  const [before, ...after] = shuffledLosses(prepared, sample, [AS_IT_IS, ...permuted], lossesOf);
  const rises = new Map(permuted.map((source, i) => [source, after[i] - before]));
  return order.slice(0, MAX_FEATURES).map((source) => {
    const gain = total > 0 ? perFeature[source] / total : 0;
    return { feature: prepared.features[source].name, gain, permutation: rises.get(source) ?? 0 };
  });
}

/**
 * The losses of the sample with each of `sources` shuffled. Copies are scored together, since trees are prepared once
 * per call.
 */
function shuffledLosses(
  prepared: PreparedFit,
  sample: Int32Array,
  sources: number[],
  lossesOf: CopyLosses,
): number[] {
  if (sample.length === 0) {
    return sources.map(() => 0);
  }
  const shuffled = new Random(prepared.settings.seed, STREAM.importance, 1).shuffle(sample.slice());
  const atOnce = Math.max(1, Math.floor(MAX_CELLS / (sample.length * prepared.columns.length)));
  const losses: number[] = [];
  for (let start = 0; start < sources.length; start += atOnce) {
    const copies = sources.slice(start, start + atOnce);
    const rowsOf = copies.map(
      (source) => (column: number) => (prepared.specs[column].source === source ? shuffled : sample),
    );
    const table: EncodedTable = {
      columns: prepared.columns.map((bins, column) => {
        const out = new Uint8Array(copies.length * sample.length);
        rowsOf.forEach((of, copy) =>
          of(column).forEach((row, i) => (out[copy * sample.length + i] = bins[row])),
        );
        return out;
      }),
      numbers: prepared.numbers.map((values, column) => {
        const out = values && new Float64Array(copies.length * sample.length);
        rowsOf.forEach(
          (of, copy) => out && of(column).forEach((row, i) => (out[copy * sample.length + i] = values[row])),
        );
        return out;
      }),
    };
    losses.push(...lossesOf(table, copies.length));
  }
  return losses;
}
