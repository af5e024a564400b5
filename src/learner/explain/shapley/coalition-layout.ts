import type { ForegroundRow } from './foreground';

/**
 * Where the mixtures of the foreground row with some background rows are stored: one per coalition of the groups in
 * which the two differ. Bit i of a coalition is set if the i-th of these groups takes the foreground row's values.
 */
export interface CoalitionLayout {
  /** Background rows, as bits. */
  rows: number;
  /** Per background row, where its mixtures begin; the extra last element is the end. */
  at: Int32Array;
  /** Background rows × groups: the group's bit, or 0 where the rows agree. */
  bitOf: Int32Array;
  /** The groups, if they are the same for every background row. */
  common: number[] | undefined;
}

export function layOutCoalitions(
  { background, groups }: ForegroundRow,
  players: number[][],
  rows: number,
): CoalitionLayout {
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
