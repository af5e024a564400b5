import { fitProcess, type ProcessRules } from '../gaussian/process';
import { Random } from '../math/random';
import type { Part } from '../model/members';
import { type FoldResult, foldRows } from './fold';
import { type PreparedFit, STREAM } from './prepare';

const FEWEST_ROWS = 30;
const MAX_ROWS = 5000;
/** Explaining a row takes as many steps as points × columns². */
const MOST_COLUMNS = 12;
/** Points of the kernel, and rows that the length scales are learned of. */
const MOST_POINTS = 200;
/** Part of the variance that the other candidates may leave: what is mostly noise is no smoother for being learned so. */
const MOST_LEFT = 0.4;

/** What a Gaussian process may cost; undefined: none. */
function rulesFor({ task, rows, plan }: PreparedFit): ProcessRules | undefined {
  if (task !== 'regression' || !plan.linear || rows < FEWEST_ROWS || rows > MAX_ROWS) {
    return undefined;
  }
  // A small fit is soon over: there it would take longer than the rest.
  const sample = Math.max(100, Math.min(MOST_POINTS, Math.round(rows / 3)));
  return {
    stages: [
      { sample: 80, iterations: 12 },
      { sample, iterations: 6 },
    ],
    points: sample,
  };
}

/**
 * A Gaussian process as a candidate, from the columns by which the first boosted candidate splits most; undefined where
 * it is not worth its time. All folds share its kernel, so that predicting and explaining compare a row with its points
 * once; that the kernel has seen the target of all rows is a handful of parameters.
 *
 * @param left the squared error of the best other candidate, in units of the target's variance
 * @returns folds × parts
 */
export function gaussianOf(
  prepared: PreparedFit,
  folds: FoldResult[],
  left: number,
): { parts: Part[][]; work: number } | undefined {
  const rules = rulesFor(prepared);
  if (rules === undefined || !(left <= MOST_LEFT)) {
    return undefined;
  }
  const gains = new Float64Array(prepared.columns.length);
  for (const { boosted } of folds) {
    boosted[0]?.gains.forEach((gain, column) => (gains[column] += gain));
  }
  const chosen = Array.from(gains.keys())
    .filter((column) => gains[column] > 0)
    .sort((a, b) => gains[b] - gains[a] || a - b)
    .slice(0, MOST_COLUMNS);
  const learned = fitProcess({
    columns: prepared.columns,
    numbers: prepared.numbers,
    specs: prepared.specs,
    centers: prepared.centers,
    chosen,
    target: prepared.values,
    folds: folds.map(({ fold }) => foldRows(prepared, fold).rows),
    rules,
    random: new Random(prepared.settings.seed, STREAM.gaussian),
  });
  return (
    learned && {
      parts: learned.folds.map(({ gaussian, line }): Part[] => [
        { kind: 'gaussian', weight: 1, base: new Float64Array(1), gaussian },
        { kind: 'linear', weight: 1, base: line.base, tables: line },
      ]),
      work: learned.work,
    }
  );
}
