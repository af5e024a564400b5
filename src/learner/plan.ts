import type { BoostRules } from './boost';
import type { ColumnSpec } from './encode';
import type { Settings } from './settings';

/** How a train set will be learned: how it is divided, and by which rules. */
export interface Plan {
  /** The rows are divided in this many parts; each fold holds one out. */
  parts: number;
  folds: number;
  /** Rules of each boosted candidate; the out-of-fold scores decide how they are mixed. */
  boosts: BoostRules[];
  /** Is a linear model a candidate too? */
  linear: boolean;
  /** Rows per fold at most, by the user's wish. */
  subsample: number | undefined;
  workBudget: number;
  reasons: string[];
}

const WORK_BUDGET = 3e10;

export function makePlan(
  rows: number,
  specs: ColumnSpec[],
  task: 'classification' | 'regression',
  classes: number,
  settings: Settings,
): Plan {
  const small = rows < 2000;
  const wished = settings.estimators ?? (small ? 10 : rows < 20_000 ? 5 : 3);
  const parts = Math.max(1, Math.min(rows, Math.max(wished, 5)));
  const folds = Math.min(wished, parts);
  const workBudget = settings.workBudget ?? WORK_BUDGET;
  const trivial = rows < 4 || (task === 'classification' && classes < 2);
  const classification = task === 'classification';
  const main: BoostRules = {
    learningRate: small ? 0.04 : 0.1,
    maxIterations: trivial ? 0 : small ? 600 : 500,
    patience: small ? 60 : 25,
    rowSample: rows < 50_000 ? 0.8 : 0.5,
    columnSample: specs.length > 3 ? (small ? 0.8 : 0.5) : 1,
    lambda: 1,
    minWeight: classification ? (small ? 1 : 3) : Math.max(2, Math.min(20, Math.floor(rows / 60))),
    minGain: 1e-9,
    categorySmooth: 5,
    categoryLambda: 5,
    maxLeaves: small ? 10 : 31,
    maxDepth: small ? 6 : 12,
    nodeColumns: 1,
    sketch: classes > 12 ? 5 : 0,
    workBudget: workBudget / folds,
  };
  const shallow: BoostRules = {
    ...main,
    maxLeaves: 5,
    maxDepth: 4,
    columnSample: specs.length > 3 ? 0.5 : 1,
  };
  return {
    parts,
    folds,
    boosts: small ? [main, shallow] : [main],
    linear: !trivial && rows <= 20_000,
    subsample: settings.subsample,
    workBudget,
    reasons: [],
  };
}
