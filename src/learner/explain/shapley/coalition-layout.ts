import type { Compared } from './compared';

/**
 * Mixtures of the row with some of the background's rows by every coalition of the groups in which both differ: bit i of a
 * coalition says that the i-th of these is the row's.
 */
export interface Coalitions {
  /** The background's rows, as bits. */
  rows: number;
  /** Per row of the background where its mixtures begin; one more for the end of the last. */
  at: Int32Array;
  /** rows of the background × groups: the bit of the group; 0 where it does not differ. */
  bitOf: Int32Array;
  /** The groups, where they are the same for all rows of the background. */
  common: number[] | undefined;
}

export function coalitionsOf(
  { background, groups }: Compared,
  players: number[][],
  rows: number,
): Coalitions {
  const at = new Int32Array(background.rows + 1);
  const bitOf = new Int32Array(background.rows * groups);
  for (let row = 0; row < background.rows; row++) {
    const takesPart = (rows >>> row) & 1;
    at[row + 1] = at[row] + (takesPart ? 1 << players[row].length : 0);
    players[row].forEach((group, i) => (bitOf[row * groups + group] = takesPart << i));
  }
  const common = players.every((own) => own === players[0]) ? players[0] : undefined;
  return { rows, at, bitOf, common };
}
