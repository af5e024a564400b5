import { MAX_SLOTS } from '../kernels/layout';
import type { Random } from '../math/random';
import type { Background } from '../model/model';

/** The row being explained (the foreground), and the background rows it is compared with. */
export interface ForegroundRow {
  /** Its bin in each column. */
  bins: Uint8Array;
  /** Its value in each numeric or date column; NaN where missing and in all other columns. */
  numbers: Float64Array;
  background: Background;
  /** Per column, the index of its group. */
  groupOf: Int32Array;
  groups: number;
}

/** Every background row, as bits. */
export function allRows({ rows }: Background): number {
  return rows === 32 ? -1 : (1 << rows) - 1;
}

/**
 * The players of each background row's game: the groups in which it differs from the foreground row. Every other
 * group changes nothing when it switches, so its Shapley value is 0.
 *
 * @param used 1 for each column that some member reads, else 0
 */
export function findPlayers(
  { bins, numbers, background, groupOf }: ForegroundRow,
  used: Uint8Array,
): number[][] {
  const { columns, numbers: measured, rows } = background;
  return Array.from({ length: rows }, (_, row) => {
    const differing = new Set<number>();
    for (let column = 0; column < columns.length; column++) {
      const values = measured?.[column];
      const isAlike =
        columns[column][row] === bins[column] && (!values || Object.is(values[row], numbers[column]));
      if (used[column] === 1 && !isAlike) {
        differing.add(groupOf[column]);
      }
    }
    return [...differing].sort((a, b) => a - b);
  });
}

/**
 * Where the mixtures of the foreground row with the background rows are stored: one per coalition of the groups in
 * which the two differ. Bit i of a coalition is set if the i-th of these groups takes the foreground row's values.
 */
export interface CoalitionLayout {
  /** Per background row, where its mixtures begin; the extra last element is the end. */
  at: Int32Array;
  /** Background rows × groups: the group's bit, or 0 where the rows agree. */
  bitOf: Int32Array;
}

export function layOutCoalitions(players: number[][], groups: number): CoalitionLayout {
  const at = new Int32Array(players.length + 1);
  const bitOf = new Int32Array(players.length * groups);
  players.forEach((own, row) => {
    at[row + 1] = at[row] + (1 << own.length);
    own.forEach((group, i) => (bitOf[row * groups + group] = 1 << i));
  });
  return { at, bitOf };
}

/**
 * Permutations of the groups. Along each of them the mixture starts as a background row, and at each step one group
 * flips to the foreground row's values. The permutations do not depend on the foreground row, so groups in which the
 * two agree have a step as well, at which nothing changes. Mixtures are numbered permutation · steps + step.
 */
export interface Permutations {
  /**
   * Background rows, and permutations of each. They are antithetic: every second one is the reverse of the one
   * before.
   */
  rows: number;
  perRow: number;
  /** The groups that flip, and the number of all groups. */
  common: number[];
  groups: number;
  /** Mixtures along a permutation: one before the first flip, then one per flip. */
  steps: number;
  /** Permutations × groups: the step at which the group flips. */
  flips: Int32Array;
  /** Per mixture, the group that has just flipped; -1 for the first of a permutation. */
  flipped: Int32Array;
}

/**
 * @param perRow permutations for each background row
 * @param reversed whether each pair starts with the reverse of the permutation drawn
 */
export function drawPermutations(
  rows: number,
  { perRow, reversed }: { perRow: number; reversed: boolean },
  { common, groups }: { common: number[]; groups: number },
  random: Random,
): Permutations {
  const steps = common.length + 1;
  const flips = new Int32Array(rows * perRow * groups);
  const flipped = new Int32Array(rows * perRow * steps).fill(-1);
  let drawn: Int32Array = Int32Array.from(common);
  for (let permutation = 0; permutation < rows * perRow; permutation++) {
    const isSecond = (permutation % perRow) % 2 === 1;
    drawn = isSecond ? drawn : random.shuffle(Int32Array.from(common));
    drawn.forEach((group, place) => {
      const flip = isSecond === reversed ? place + 1 : common.length - place;
      flips[permutation * groups + group] = flip;
      flipped[permutation * steps + flip] = group;
    });
  }
  return { rows, perRow, common, groups, steps, flips, flipped };
}

/** Mixtures along all permutations. */
export function mixtureCount({ rows, perRow, steps }: Permutations): number {
  return rows * perRow * steps;
}

/** Exact Shapley values from the value of every coalition. Bit i of a coalition stands for player i. */
export function shapleyValues(values: Float64Array, players: number): Float64Array {
  // The weight of a coalition by its size: size! (players - size - 1)! / players!
  const shares = new Float64Array(players);
  shares[0] = 1 / players;
  for (let size = 1; size < players; size++) {
    shares[size] = (shares[size - 1] * size) / (players - size);
  }
  const effects = new Float64Array(players);
  for (let coalition = 0; coalition < values.length; coalition++) {
    const share = shares[bitCount(coalition)];
    for (let player = 0; player < players; player++) {
      if ((coalition & (1 << player)) === 0) {
        effects[player] += share * (values[coalition | (1 << player)] - values[coalition]);
      }
    }
  }
  return effects;
}

/**
 * `[p][q]` is (p - 1)! q! / (p + q)!: the Shapley value of each of p players in a game that is won if they are all in and q
 * others are all out. Each of the others has minus `[q][p]`.
 */
export function shapleyWeights(): Float64Array[] {
  return Array.from({ length: MAX_SLOTS + 1 }, (_, p) => {
    const shares = new Float64Array(MAX_SLOTS + 1);
    shares[0] = 1 / Math.max(1, p);
    for (let q = 1; q <= MAX_SLOTS; q++) {
      shares[q] = shares[q - 1] * (q / (p + q));
    }
    return shares;
  });
}

/** The number of bits set in a 32-bit integer. */
function bitCount(bits: number): number {
  let pairs = bits - ((bits >>> 1) & 0x55555555);
  pairs = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((pairs + (pairs >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
