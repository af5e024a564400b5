import { atomWeights, meanResiduals, type ResidualForest } from '../../calibration/residuals';
import { binAll } from '../../features/binning';
import type { EncodedTable } from '../../features/encode';
import { exp, log } from '../../math/numeric';
import { LearnerError } from '../../types';
import type { Model } from '../model';
import { widenings } from './widening';

/**
 * Visits the distribution around each row: its atoms, relative to the ensemble's mean on the scale of the scores, and
 * their weights. Both arrays are used again for the next row.
 *
 * Where a row is beyond the train set, its residuals are widened about their mean: how far off a model may be there is
 * not known, and nothing says that it is off to one side. A model that answers the ensemble's mean has them widened about
 * that.
 *
 * @param scaled the ensemble's mean of each row, on the scale of the scores
 */
export function eachDistribution(
  model: Model,
  table: EncodedTable,
  scaled: Float64Array,
  visit: (atoms: Float64Array, weights: Float64Array, row: number) => void,
): void {
  const { residuals, columns } = residualsAround(model, table, scaled);
  const { atoms } = residuals;
  const weights = new Float64Array(atoms.length);
  const widened = new Float64Array(atoms.length);
  const widths = widenings(model, table, scaled.length);
  for (let row = 0; row < scaled.length; row++) {
    atomWeights(residuals, residuals.mix, columns, row, weights);
    const width = widths[row];
    if (width === 1) {
      visit(atoms, weights, row);
      continue;
    }
    const center = model.meanOfDistribution === true ? meanOf(atoms, weights) : 0;
    for (let i = 0; i < atoms.length; i++) {
      widened[i] = center + width * (atoms[i] - center);
    }
    visit(widened, weights, row);
  }
}

function meanOf(atoms: Float64Array, weights: Float64Array): number {
  let sum = 0;
  let total = 0;
  for (let i = 0; i < atoms.length; i++) {
    sum += weights[i] * atoms[i];
    total += weights[i];
  }
  return sum / total;
}

/** The residuals, and the columns that their trees split at: those of the table, and the prediction. */
function residualsAround(
  { residuals }: Model,
  table: EncodedTable,
  scaled: Float64Array,
): { residuals: ResidualForest; columns: Uint8Array[] } {
  if (!residuals) {
    throw new LearnerError('The model holds no residuals.');
  }
  const binned = new Uint8Array(scaled.length);
  binAll(scaled, residuals.borders, binned);
  return { residuals, columns: [...table.columns, binned] };
}

/**
 * By how much the mean of each row's distribution is above the ensemble's mean, on the scale of the scores. If the model
 * predicts the logarithm of a change, it is the mean of the change, as a logarithm.
 *
 * On 24 public tables of 120 to 300 rows this mean has a squared error as low as the ensemble's (by 0.2 % in the mean);
 * moving the distribution to the ensemble's mean instead costs 1.8 % of the pinball loss.
 */
export function meanShifts(model: Model, table: EncodedTable, scaled: Float64Array): Float64Array {
  const { growth, scale } = model;
  if (growth === undefined) {
    const { residuals, columns } = residualsAround(model, table, scaled);
    return meanResiduals(residuals, columns, scaled.length);
  }
  const shifts = new Float64Array(scaled.length);
  eachDistribution(model, table, scaled, (atoms, weights, row) => {
    let sum = 0;
    let total = 0;
    for (let i = 0; i < atoms.length; i++) {
      total += weights[i];
      sum += weights[i] * exp(scale * atoms[i]);
    }
    shifts[row] = log(sum / total) / scale;
  });
  return shifts;
}
