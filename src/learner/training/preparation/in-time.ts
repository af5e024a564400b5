import { areNeighboursAlike } from '../../../metrics/neighbours';
import type { ColumnSpec, EncodedTable } from '../../features/encode';
import { square } from '../../math/numeric';
import type { Random } from '../../math/random';
import type { BoostRules } from '../../trees/boosting/boost';
import type { Label } from '../../types';
import { assignParts, blocksOf, type Clusters, type HoldOut } from '../folds/parts';
import { DEFAULT_BLOCKS } from '../plan/options';
import { tryBoosting } from './trial';

/** With fewer rows a block is a handful of them. */
const FEWEST_ROWS = 200;
/** Parts of a trial; each is held out once. */
const PARTS = 4;
/** Size of a trial: few and quick trees. */
const ITERATIONS = 50;
const LEARNING_RATE = 0.15;
/**
 * How much higher the held-out loss of blocks has to be than that of rows at random, and by how many standard errors: chosen
 * on simulated weeks and the UCI room occupancy data (docs/benchmarks/told.md, "Rows that follow each other").
 */
const MUCH_WORSE = 1.1;
const LEAST_ERRORS = 2;
/** With fewer runs of equal classes a table is sorted by them, in a section or two. */
const FEWEST_RUNS = 3;

export interface InTimeInput extends EncodedTable {
  specs: ColumnSpec[];
  /** Of the first candidate. */
  rules: BoostRules;
  /** Class of each row. */
  codes: Int32Array;
  classes: Label[];
  holdOut: HoldOut;
  random: (stream: number) => Random;
}

/**
 * Whether classes hang together in the order of the rows in a way that the features do not tell: trees that learned the
 * rows next to a held-out one know its class far better than trees that did not. Rows held out at random then promise
 * too much for rows to come, and choose what knows its neighbours by heart.
 */
export function isLearnedFromNeighbours(input: InTimeInput): boolean {
  const { codes, classes, holdOut } = input;
  if (codes.length < FEWEST_ROWS || !hangsTogether(codes, classes.length)) {
    return false;
  }
  const blocks = blocksOf({ task: 'classification', codes, classes }, holdOut, DEFAULT_BLOCKS, PARTS);
  return areMuchWorse(trialLosses(input, blocks), trialLosses(input), blocks);
}

function hangsTogether(codes: Int32Array, classes: number): boolean {
  const shares = new Float64Array(classes);
  for (const code of codes) {
    shares[code] += 1 / codes.length;
  }
  const runs = codes.reduce((count, code, row) => count + (code === codes[row - 1] ? 0 : 1), 0);
  if (runs < FEWEST_RUNS * classes) {
    return false;
  }
  return areNeighboursAlike({
    rows: codes.map((_, row) => row),
    target: codes,
    width: classes,
    error: (row, k) => (codes[row] === k ? 1 : 0) - shares[k],
  });
}

/** The loss of each row, by trees that did not learn its part. */
function trialLosses(
  { random, rules, codes, classes, ...table }: InTimeInput,
  blocks?: Clusters,
): Float64Array {
  const part = assignParts({ task: 'classification', codes, classes }, blocks, PARTS, random(0));
  const quick: BoostRules = { ...rules, learningRate: LEARNING_RATE, maxIterations: ITERATIONS };
  const losses = new Float64Array(codes.length);
  for (let heldOut = 0; heldOut < PARTS; heldOut++) {
    const own = { rules: quick, codes, classes: classes.length, part, heldOut, random: random(1 + heldOut) };
    const trial = tryBoosting(table, own);
    let next = 0;
    part.forEach((one, row) => {
      if (one === heldOut) {
        losses[row] = trial.losses[next++];
      }
    });
  }
  return losses;
}

/** Compares block by block, since the rows of one are alike. */
function areMuchWorse(losses: Float64Array, others: Float64Array, { of, count }: Clusters): boolean {
  const more = new Float64Array(count);
  let [sum, other] = [0, 0];
  for (let row = 0; row < losses.length; row++) {
    more[of[row]] += losses[row] - others[row];
    sum += losses[row];
    other += others[row];
  }
  const mean = (sum - other) / count;
  const squares = more.reduce((total, one) => total + square(one - mean), 0);
  return sum > MUCH_WORSE * other && sum - other > LEAST_ERRORS * Math.sqrt((squares * count) / (count - 1));
}
