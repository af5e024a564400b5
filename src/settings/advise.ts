import { CLEANING, NODE } from './common';
import { choice, flag, freeText, list, numberIn, property, vary } from './kinds';

/** tabular-advise: what may be changed, what is to be reached, and how sure it must be. */
export const ADVISE = {
  ...NODE,
  model: freeText(),
  /** The columns that may be changed, each within what, and what that costs. */
  vary: vary({ message: 'vary' }),
  goal: choice(['at least', 'at most', 'highest', 'lowest'], { default: 'at least' }),
  /** A number, or of classes the label that the goal is about. */
  value: freeText({ message: 'goal_value' }),
  /** The probability that must hold the goal. */
  sure: numberIn({ min: 0.5, max: 0.99, default: 0.9 }),
  /** Columns that go along with those that are changed. */
  follow: list(),
  table: property('payload', 'tableType'),
  tableType: freeText({ standard: 'msg', label: false }),
  /** Let the advised row go on with its prediction, for a watch node to score. */
  verify: flag(),
  /** Rows that are predicted for an answer. */
  candidates: numberIn({ min: 100, max: 20_000, integer: true, default: 2_000 }),
  /** Highest estimated cost of a question; 0 = no bound. */
  maxCost: numberIn({ min: 0, default: 0 }),
  missingColumns: choice(['error', 'fill'], { default: 'error' }),
  ...CLEANING,
} as const;
