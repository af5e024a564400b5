import type { BoostRules } from '../../trees/boosting/boost';

/**
 * More trees, with leaves down to a few certain rows. On noisy targets they only cost time, so a fold grows them where the
 * first candidate explains at least `minExplained` of the trivial held-out loss. They take as long as the usual ones; grown
 * whatever the noise, they change losses by −0.5 to +0.4 % (docs/benchmarks/many-tables.md, "What each candidate and each
 * rule is worth", measured by leaving each out).
 */
export interface LowNoise {
  rules: BoostRules;
  minExplained: number;
}

const BUDGET = 2e9;
/** Of fewer rows trees of numbers are smaller. */
const FEW_ROWS = 2000;

/** @param main the rules of the first candidate */
export function lowNoise(
  main: BoostRules,
  { rows, task }: { rows: number; task: 'classification' | 'regression' },
  folds: number,
): LowNoise {
  const rules: BoostRules = {
    ...main,
    learningRate: 0.1,
    maxIterations: 1000,
    longAfter: 1000,
    patience: 40,
    rowSample: 0.8,
    workBudget: BUDGET / folds,
  };
  if (task === 'classification') {
    const own = { minImprovement: 0.0002, columnSample: 1, lambda: 0.1, minHessian: 0.02 };
    return { rules: { ...rules, ...own, maxLeaves: 16, maxDepth: 12 }, minExplained: 0.6 };
  }
  const own = {
    // Errors of formulas and of rows in groups go on falling by next to nothing for hundreds of trees.
    minImprovement: 0,
    columnSample: Math.max(main.columnSample, 0.8),
    lambda: 0.3,
    minHessian: 1,
  };
  const size = rows < FEW_ROWS ? { maxLeaves: 8, maxDepth: 6 } : { maxLeaves: 16, maxDepth: 8 };
  return { rules: { ...rules, ...own, ...size }, minExplained: 0.7 };
}
