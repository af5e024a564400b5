import { KIND } from './kernel';

/** Equal stretches of a direction, within so many of its standard deviations; merged in twos down to the fewest. */
const STRETCHES = { most: 64, fewest: 8, deviations: 3 };
/** Of a direction of two dimensions, how much the second one counts beside the first. */
const PARTS = [0.15, 0.4, 0.7, 1, 1.4, 2.5, 6.7].flatMap((part) => [part, -part]);
/** Directions of two dimensions that are turned further, and by how much, in turn. */
const TURNED = 3;
const TURNS = [0.4, 0.2, 0.1, 0.05];

/** A direction, and by how many standard deviations more it tells of the errors than chance. */
export interface Direction {
  weights: Float64Array;
  told: number;
}

/**
 * Directions along which what a model leaves of its rows changes the most, by the means of stretches of each: first of two
 * dimensions of numbers, at some angles, and then turned towards the others (projection pursuit: J. Friedman and W. Stuetzle,
 * 1981). The best first.
 *
 * @param positions rows × dimensions
 * @param errors of rows that were not learned from
 */
export function findDirections(
  kinds: Uint8Array,
  positions: Float64Array,
  errors: Float64Array,
): Direction[] {
  const width = kinds.length;
  const search = new Stretches(width, positions, errors);
  const numbers = Array.from(kinds.keys()).filter((d) => kinds[d] === KIND.number);
  const found: Direction[] = [];
  for (const [i, first] of numbers.entries()) {
    for (const second of numbers.slice(0, i)) {
      let best: Direction | undefined;
      for (const part of PARTS) {
        const weights = new Float64Array(width);
        weights[first] = 1 / Math.sqrt(1 + part * part);
        weights[second] = part * weights[first];
        const told = search.toldBy(weights);
        best = best && best.told >= told ? best : { weights, told };
      }
      found.push(best!);
    }
  }
  return found
    .sort((a, b) => b.told - a.told)
    .slice(0, TURNED)
    .map((one) => turned(search, numbers, one))
    .sort((a, b) => b.told - a.told);
}

/** Turned towards and away from each dimension, as long as that tells more. */
function turned(search: Stretches, numbers: number[], start: Direction): Direction {
  let best = start;
  for (const turn of TURNS) {
    for (const d of numbers) {
      for (const by of [turn, -turn]) {
        const moved = best.weights.slice();
        moved[d] += by;
        const length = Math.sqrt(moved.reduce((sum, one) => sum + one * one, 0));
        const weights = moved.map((one) => one / length);
        const told = search.toldBy(weights);
        best = told > best.told ? { weights, told } : best;
      }
    }
  }
  return best;
}

/** Stretches of a column, and how often all columns are gone through. */
const OF_COLUMN = 16;
const SWEEPS = 3;
/** Bins of a category. */
const MOST_PLACES = 256;

/**
 * What columns alone do not tell of a target: what is left of the means of stretches of each (backfitting: T. Hastie and R.
 * Tibshirani, 1990).
 *
 * @param positions rows × dimensions
 */
export function beyondColumns(
  kinds: Uint8Array,
  positions: Float64Array,
  target: Float64Array,
): Float64Array {
  const width = kinds.length;
  const left = target.slice();
  const ofRow = Array.from(kinds, (kind, d) =>
    Int32Array.from(left, (_, row) => {
      const value = positions[row * width + d];
      return kind === KIND.number
        ? Math.max(
            0,
            Math.min(OF_COLUMN - 1, Math.floor((OF_COLUMN / 2) * (1 + value / STRETCHES.deviations))),
          )
        : value;
    }),
  );
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const places of ofRow) {
      const sums = new Float64Array(MOST_PLACES);
      const counts = new Float64Array(MOST_PLACES);
      left.forEach((value, row) => {
        sums[places[row]] += value;
        counts[places[row]]++;
      });
      left.forEach((value, row) => (left[row] = value - sums[places[row]] / counts[places[row]]));
    }
  }
  return left;
}

/** Means of errors along a direction. */
class Stretches {
  private readonly variance: number;
  /** Of each dimension, where the rows are. */
  private readonly columns: Float64Array[];
  private readonly at: Float64Array;
  private readonly sums = new Float64Array(STRETCHES.most);
  private readonly counts = new Float64Array(STRETCHES.most);

  /** @param positions rows × dimensions */
  constructor(
    width: number,
    positions: Float64Array,
    private readonly errors: Float64Array,
  ) {
    this.columns = Array.from({ length: width }, (_, d) =>
      errors.map((_, row) => positions[row * width + d]),
    );
    this.variance = errors.reduce((sum, error) => sum + (error * error) / errors.length, 0);
    this.at = new Float64Array(errors.length);
  }

  /** Of the number of stretches that tells the most. */
  toldBy(weights: Float64Array): number {
    const { columns, errors, at, sums, counts, variance } = this;
    at.fill(0);
    columns.forEach((column, d) => {
      const weight = weights[d];
      for (let row = 0; weight !== 0 && row < at.length; row++) {
        at[row] += weight * column[row];
      }
    });
    let [sum, squares] = [0, 0];
    for (let row = 0; row < at.length; row++) {
      sum += at[row];
      squares += at[row] * at[row];
    }
    const mean = sum / at.length;
    const deviation = Math.sqrt(squares / at.length - mean * mean);
    if (!(deviation > 0) || !(variance > 0)) {
      return 0;
    }
    sums.fill(0);
    counts.fill(0);
    const perStretch = STRETCHES.most / (2 * STRETCHES.deviations * deviation);
    for (let row = 0; row < at.length; row++) {
      const place = Math.floor((at[row] - mean) * perStretch + STRETCHES.most / 2);
      const stretch = Math.max(0, Math.min(STRETCHES.most - 1, place));
      sums[stretch] += errors[row];
      counts[stretch]++;
    }
    let most = 0;
    for (let stretches = STRETCHES.most; stretches >= STRETCHES.fewest; stretches /= 2) {
      let told = 0;
      let known = 0;
      for (let i = 0; i < stretches; i++) {
        if (counts[i] > 0) {
          told += (sums[i] * sums[i]) / counts[i];
          known++;
        }
        sums[i] = (sums[2 * i] ?? 0) + (sums[2 * i + 1] ?? 0);
        counts[i] = (counts[2 * i] ?? 0) + (counts[2 * i + 1] ?? 0);
      }
      most = Math.max(most, (told / variance - known) / Math.sqrt(2 * known));
    }
    return most;
  }
}
