import type { ThresholdCurve } from './threshold-curve';
import type { Threshold } from './thresholds';

/**
 * What wrong answers cost: `{"yes": {"no": 5}}` says that a row which is yes and is answered no costs 5. A wrong answer
 * that is not named costs 1, a right one 0.
 */
export type AnswerCosts = Record<string, Record<string, number>>;

/** The same of two classes without their names: what a row of the rarer class that is missed costs, and a false alarm. */
export interface ErrorCosts {
  /** Default 1. */
  missed?: number;
  /** Default 1. */
  false_alarm?: number;
}

/** Costs of the four answers: of a row of the class that is looked for, and of another row, answered so or not. */
export interface FourCosts {
  hit: number;
  miss: number;
  falseAlarm: number;
  pass: number;
}

/** Of a wrong answer that has no cost of its own. */
const WRONG = 1;
const ERRORS: ReadonlySet<string> = new Set(['missed', 'false_alarm'] satisfies (keyof ErrorCosts)[]);

/** Labels of a service may come back as text: `True` for true, `1` for 1. */
export function comparableLabel(label: string | number | boolean): string {
  const text = String(label);
  return /^(true|false)$/i.test(text) ? text.toLowerCase() : text;
}

/** Whether these are the costs of a miss and of a false alarm, at least one of them, each from 0 on. */
export function isErrorCosts(given: object): given is ErrorCosts {
  const all: [string, unknown][] = Object.entries(given);
  return (
    all.length > 0 &&
    all.every(([name, cost]) => ERRORS.has(name) && Number.isFinite(cost) && Number(cost) >= 0)
  );
}

/** @param positive the class that is looked for */
export function fourCosts(costs: AnswerCosts | ErrorCosts, positive: ThresholdCurve['positive']): FourCosts {
  if (isErrorCosts(costs)) {
    const { missed = WRONG, false_alarm: falseAlarm = WRONG } = costs;
    return { hit: 0, miss: missed, falseAlarm, pass: 0 };
  }
  const sought = comparableLabel(positive);
  const isSought = (label: string): boolean => comparableLabel(label) === sought;
  const named = Object.entries(costs).flatMap(([label, answers]) =>
    Object.entries(answers).map(([answer, cost]) => ({ label, answer, cost })),
  );
  const costOf = (isOf: boolean, answeredSo: boolean): number =>
    named.find(({ label, answer }) => isSought(label) === isOf && isSought(answer) === answeredSo)?.cost ??
    (isOf === answeredSo ? 0 : WRONG);
  return {
    hit: costOf(true, true),
    miss: costOf(true, false),
    falseAlarm: costOf(false, true),
    pass: costOf(false, false),
  };
}

/** What all answers cost, of which so many rows are found and so many are false alarms. */
export function totalCost(
  { positives, negatives }: ThresholdCurve,
  costs: FourCosts,
  answers: { hits: number; false_alarms: number },
): number {
  const { hits, false_alarms: alarms } = answers;
  return (
    hits * costs.hit +
    (positives - hits) * costs.miss +
    alarms * costs.falseAlarm +
    (negatives - alarms) * costs.pass
  );
}

/** The threshold of the lowest mean cost per row among the points of a curve, and above all of them: of equal ones the highest. */
export function cheapestThreshold(curve: ThresholdCurve, costs: FourCosts): Threshold {
  const { at, hits, false_alarms: alarms, positives, negatives } = curve;
  const rows = positives + negatives;
  const none = totalCost(curve, costs, { hits: 0, false_alarms: 0 });
  let best: Threshold = { at: 1, value: at[0] < 1 ? none / rows : Infinity };
  for (let i = 0; i < at.length; i++) {
    const value = totalCost(curve, costs, { hits: hits[i], false_alarms: alarms[i] }) / rows;
    if (value < best.value) {
      best = { at: at[i], value };
    }
  }
  return best;
}
