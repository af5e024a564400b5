import { probabilities, rowLogLosses } from '../../calibration/calibrate';
import type { Random } from '../../math/random';
import { partScores } from '../../model/members';
import { boost, type Boosted, type BoostRules } from '../../trees/boosting/boost';
import { classLogLoss } from '../../trees/boosting/loss';
import type { Encoded } from './encoded';

export interface TrialInput {
  rules: BoostRules;
  /** Class and part of each row. */
  codes: Int32Array;
  classes: number;
  part: Uint8Array;
  /** The part to hold out. */
  heldOut: number;
  random: Random;
}

/** Boosted trees for classes, trained on all parts but one, and the loss of each row of that one. */
export interface Trial extends Boosted {
  losses: Float64Array;
}

export function tryBoosting(
  table: Pick<Encoded, 'columns' | 'numbers' | 'specs'>,
  { rules, codes, classes, part, random, ...rest }: TrialInput,
): Trial {
  const all = Int32Array.from(part, (_, row) => row);
  const heldOut = all.filter((row) => part[row] === rest.heldOut);
  const input = {
    columns: table.columns,
    specs: table.specs,
    objective: classLogLoss(codes, classes),
    rows: all.filter((row) => part[row] !== rest.heldOut),
    heldOut,
    tableRows: part.length,
  };
  const boosted = boost(input, rules, random);
  const { base, trees } = boosted;
  const scores = partScores({ kind: 'trees', weight: 1, base, trees }, table, heldOut);
  const probas = probabilities(scores, base.length, classes, 1);
  const losses = rowLogLosses(
    probas,
    heldOut.map((row) => codes[row]),
    classes,
  );
  return { ...boosted, losses };
}
