import { fitClasses } from '../../gaussian/classes';
import { fitProcess, type ProcessRules } from '../../gaussian/process';
import { Random } from '../../math/random';
import type { Part } from '../../model/members';
import { type PreparedFit, STREAM } from '../preparation/prepare';
import { type FoldResult, foldRows } from './fold';

const FEWEST_ROWS = 30;
const MAX_ROWS = 5000;
/** Explaining a row costs points × columns². */
const MOST_COLUMNS = 12;
/** Most rows that the length scales are learned from. */
const MOST_SAMPLED = 200;
/**
 * Rows of the last stage, and its steps. Chosen on the six machines of numbers of `npm run bench -- advise`, 300 rows and four
 * train sets each: their means are 4 to 12 % nearer the truth than with length scales of a third of the rows, for
 * 15 % of the time of a fit at most. Measured again in docs/benchmarks/advise.md and told.md.
 */
const MOST_AT_LAST = 300;
const ITERATIONS_AT_LAST = 6;
/** Most points of the kernel; with few columns there may be more, for the same bytes. */
const MOST_POINTS = 400;
const POINTS_TIMES_COLUMNS = 2400;
/**
 * Most of the variance that the other candidates may leave unexplained. A process of what is mostly noise would lower the
 * loss by 0.1 to 0.3 %, and take half as long as all else (docs/benchmarks/many-tables.md, by leaving the rule out).
 */
const MOST_LEFT = 0.4;

/** The same limit for classes, where a process is worth more: a product is compared with fewer points. */
const MOST_CLASS_COLUMNS = 16;
const MOST_CLASS_POINTS = 120;
/** With fewer rows per column, columns of high gain are partly chosen by chance, and held-out rows do not show it. */
const ROWS_PER_COLUMN = 6;
/** Most rows times outputs: with more classes it takes longer than the rest of the fit and gains little. */
const MOST_SCORES = 3000;

interface Found {
  parts: Part[][];
  work: number;
}

/** Limits on the cost of a Gaussian process. */
function rulesFor(rows: number, columns: number): ProcessRules {
  // Small fits are quick: there it would take longer than everything else.
  const sample = Math.max(100, Math.min(MOST_SAMPLED, Math.round(rows / 3)));
  return {
    stages: [
      { sample: 80, iterations: 12 },
      { sample, iterations: 6, triesShorter: true },
      { sample: Math.min(MOST_AT_LAST, rows), iterations: ITERATIONS_AT_LAST },
    ],
    points: Math.max(sample, Math.min(MOST_POINTS, Math.round(POINTS_TIMES_COLUMNS / columns))),
  };
}

/**
 * A Gaussian process as a candidate, on the columns that the first boosted candidate gains most from; undefined if it
 * is not worth its time. All folds share its kernel, so that predicting and explaining compare a row with the
 * kernel's points only once. The kernel has seen the target of all rows, but that is a handful of parameters.
 *
 * @param left for regression, the fraction of the target's variance that the best other candidate leaves
 * @returns folds × parts
 */
export function gaussianOf(
  prepared: PreparedFit,
  folds: FoldResult[],
  left: () => number,
): Found | undefined {
  const { rows, plan, task, classes } = prepared;
  if (!plan.linear || rows < FEWEST_ROWS || rows > MAX_ROWS) {
    return undefined;
  }
  const gains = new Float64Array(prepared.columns.length);
  for (const { boosted } of folds) {
    boosted[0]?.gains.forEach((gain, column) => (gains[column] += gain));
  }
  const chosen = Array.from(gains.keys())
    .filter((column) => gains[column] > 0)
    .sort((a, b) => gains[b] - gains[a] || a - b)
    .slice(0, task === 'regression' ? MOST_COLUMNS : MOST_CLASS_COLUMNS);
  if (task === 'regression') {
    return left() <= MOST_LEFT ? forNumbers(prepared, folds, chosen) : undefined;
  }
  const outputs = classes.length === 2 ? 1 : classes.length;
  const isChosenByChance = gains.length > MOST_CLASS_COLUMNS && rows < ROWS_PER_COLUMN * gains.length;
  return isChosenByChance || outputs * rows > MOST_SCORES
    ? undefined
    : forClasses(prepared, folds, chosen, gains);
}

function forNumbers(prepared: PreparedFit, folds: FoldResult[], chosen: number[]): Found | undefined {
  const learned = fitProcess({
    ...inputOf(prepared, chosen),
    centers: prepared.centers,
    target: prepared.values,
    folds: folds.map(({ fold }) => foldRows(prepared, fold).rows),
    rules: rulesFor(prepared.rows, chosen.length),
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

function forClasses(
  prepared: PreparedFit,
  folds: FoldResult[],
  chosen: number[],
  gains: Float64Array,
): Found | undefined {
  const learned = fitClasses({
    ...inputOf(prepared, chosen),
    gains,
    codes: prepared.codes,
    classes: prepared.classes.length,
    folds: folds.map(({ fold }) => foldRows(prepared, fold)),
    points: MOST_CLASS_POINTS,
  });
  return (
    learned && {
      parts: learned.folds.map(({ gaussian, base }): Part[] => [
        { kind: 'gaussian', weight: 1, base, gaussian },
      ]),
      work: learned.work,
    }
  );
}

function inputOf({ columns, numbers, specs, settings }: PreparedFit, chosen: number[]) {
  return { columns, numbers, specs, chosen, random: new Random(settings.seed, STREAM.gaussian) };
}
