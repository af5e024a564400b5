import { STREAM, type Prepared } from './prepare';
import { Random } from './random';
import type { FeatureImportance } from './types';

const MOST = 200;
const PERMUTED = 30;

/**
 * Importance of each feature: its part of the split gain, and for the 30 of most gain how much the loss of the
 * sampled rows rises when the feature's values are shuffled among them (L. Breiman, 2001).
 */
export function featureImportance(
  prepared: Prepared,
  gains: Float64Array,
  sample: Int32Array,
  lossOf: (columns: Uint8Array[]) => number,
): FeatureImportance[] {
  const perFeature = new Float64Array(prepared.features.length);
  let total = 0;
  prepared.specs.forEach((spec, column) => {
    perFeature[spec.source]! += gains[column]!;
    total += gains[column]!;
  });
  const order = Array.from(perFeature.keys()).sort((a, b) => perFeature[b]! - perFeature[a]! || a - b);
  const random = new Random(prepared.settings.seed, STREAM.importance, 1);
  const shuffled = random.shuffle(Int32Array.from(sample));
  const before = sample.length > 0 ? lossOf(prepared.columns) : 0;
  return order.slice(0, MOST).map((source, rank) => {
    let permutation = 0;
    if (rank < PERMUTED && perFeature[source]! > 0) {
      permutation = lossOf(shuffleSource(prepared, source, sample, shuffled)) - before;
    }
    const gain = total > 0 ? perFeature[source]! / total : 0;
    return { feature: prepared.features[source]!.name, gain, permutation };
  });
}

function shuffleSource(
  prepared: Prepared,
  source: number,
  sample: Int32Array,
  shuffled: Int32Array,
): Uint8Array[] {
  return prepared.columns.map((bins, column) => {
    if (prepared.specs[column]!.source !== source) {
      return bins;
    }
    const copy = new Uint8Array(bins.length);
    sample.forEach((row, i) => (copy[row] = bins[shuffled[i]!]!));
    return copy;
  });
}
