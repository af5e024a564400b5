import type { BoostRules } from './boost';
import type { ColumnSpec } from './encode';
import type { Settings } from './settings';

/** How a train set will be learned: how it is divided, and by which rules. */
export interface Plan {
  /** The rows are divided in this many parts; each fold holds one out. */
  parts: number;
  folds: number;
  boost: BoostRules;
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
  const wished = settings.estimators ?? (small ? 10 : rows < 20_000 ? 5 : 4);
  const parts = Math.max(1, Math.min(rows, Math.max(wished, 5)));
  const folds = Math.min(wished, parts);
  const workBudget = settings.workBudget ?? WORK_BUDGET;
  const trivial = rows < 4 || (task === 'classification' && classes < 2);
  const classification = task === 'classification';
  const boost: BoostRules = {
    learningRate: small ? 0.04 : 0.1,
    maxIterations: trivial ? 0 : small ? 600 : 500,
    patience: small ? 60 : 25,
    rowSample: small ? 0.8 : 0.8,
    columnSample: specs.length > 3 ? 0.7 : 1,
    lambda: 1,
    minWeight: classification ? (small ? 1 : 3) : Math.max(2, Math.min(20, Math.floor(rows / 60))),
    minGain: 1e-9,
    categorySmooth: 5,
    categoryLambda: 5,
    maxLeaves: small ? 12 : 31,
    maxDepth: small ? 6 : 12,
    nodeColumns: 1,
    workBudget: workBudget / folds,
  };
  return { parts, folds, boost, subsample: settings.subsample, workBudget, reasons: [] };
}
