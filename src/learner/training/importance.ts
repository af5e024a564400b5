import type { EncodedTable } from '../features/encode';
import { columnVariances } from '../linear/linear';
import { Random } from '../math/random';
import type { Member } from '../model/members';
import type { FeatureImportance } from '../types';
import { type PreparedFit, STREAM } from './prepare';

const MAX_FEATURES = 200;
const MAX_PERMUTED = 30;

/**
 * What the lines of a model count for beside the splits of trees, per column: the variance that they explain, as often as
 * boosting would count it, step by step.
 *
 * @param rows table rows over which they vary
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
 * Importance of each feature: its share of the split gain; and, for the 30 features with the most gain, how much the
 * loss of the sampled rows rises when the feature's values are shuffled among them (L. Breiman, 2001).
 *
 * @param sample table rows that were held out
 * @param lossOf loss of the sampled rows given their columns; each row is scored by the member that held it out
 */
export function featureImportance(
  prepared: PreparedFit,
  gains: Float64Array,
  sample: Int32Array,
  lossOf: (table: EncodedTable) => number,
): FeatureImportance[] {
  const perFeature = new Float64Array(prepared.features.length);
  let total = 0;
  prepared.specs.forEach((spec, column) => {
    perFeature[spec.source] += gains[column];
    total += gains[column];
  });
  const order = Array.from(perFeature.keys()).sort((a, b) => perFeature[b] - perFeature[a] || a - b);
  const table: EncodedTable = {
    columns: prepared.columns.map((bins) => Uint8Array.from(sample, (row) => bins[row])),
    numbers: prepared.numbers.map((values) => values && Float64Array.from(sample, (row) => values[row])),
  };
  const places = Int32Array.from(sample, (_, i) => i);
  const shuffled = new Random(prepared.settings.seed, STREAM.importance, 1).shuffle(places);
  const before = sample.length > 0 ? lossOf(table) : 0;
  return order.slice(0, MAX_FEATURES).map((source, rank) => {
    let permutation = 0;
    // Linear models split nothing: where they have all the weight, no feature has any gain.
    if (rank < MAX_PERMUTED && (perFeature[source] > 0 || total === 0)) {
      const isOf = (column: number) => prepared.specs[column].source === source;
      const changed: EncodedTable = {
        columns: table.columns.map((bins, column) =>
          isOf(column) ? Uint8Array.from(shuffled, (i) => bins[i]) : bins,
        ),
        numbers: table.numbers.map((values, column) =>
          values && isOf(column) ? Float64Array.from(shuffled, (i) => values[i]) : values,
        ),
      };
      permutation = lossOf(changed) - before;
    }
    const gain = total > 0 ? perFeature[source] / total : 0;
    return { feature: prepared.features[source].name, gain, permutation };
  });
}
