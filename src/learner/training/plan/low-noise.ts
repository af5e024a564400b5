import type { BoostRules } from '../../trees/boosting/boost';
import { LOW_NOISE, SIZES } from '../tuned';

/**
 * More trees, with leaves down to a few certain rows. On noisy targets they only cost time, as much as the usual ones, so a fold
 * grows them where the first candidate explains at least `minExplained` of the trivial held-out loss.
 */
export interface LowNoise {
  rules: BoostRules;
  minExplained: number;
}

/** @param main the rules of the first candidate */
export function lowNoise(
  main: BoostRules,
  { rows, task }: { rows: number; task: 'classification' | 'regression' },
  folds: number,
): LowNoise {
  const rules: BoostRules = {
    ...main,
    learningRate: LOW_NOISE.learningRate,
    maxIterations: LOW_NOISE.iterations,
    longAfter: LOW_NOISE.iterations,
    patience: LOW_NOISE.patience,
    rowSample: LOW_NOISE.rowSample,
    workBudget: LOW_NOISE.work / folds,
  };
  if (task === 'classification') {
    return {
      rules: { ...rules, ...LOW_NOISE.classes, columnSample: 1 },
      minExplained: LOW_NOISE.explained.classes,
    };
  }
  const { numbers } = LOW_NOISE;
  const own = {
    // Errors of formulas and of rows in groups go on falling by next to nothing for hundreds of trees.
    minImprovement: 0,
    columnSample: Math.max(main.columnSample, numbers.columnSample),
    lambda: numbers.lambda,
    minHessian: numbers.minHessian,
  };
  const { few, many } = LOW_NOISE.ofNumbers;
  const size = rows < SIZES.small ? few : many;
  return { rules: { ...rules, ...own, ...size }, minExplained: LOW_NOISE.explained.numbers };
}
