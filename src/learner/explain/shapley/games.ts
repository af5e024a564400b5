import type { Compared } from './compared';

/**
 * For each of the background's rows the game in which the row's groups take the place of that row's, one after another.
 * Its players are the groups in which both differ: all others change nothing, and have no effect.
 */
export interface Games {
  /** Per row of the background its players: numbers of groups. */
  players: number[][];
  /** The groups in which rows can differ at all. */
  common: number[];
}

/** @param used columns that the members look at; 0 for others */
export function gamesOf({ bins, numbers, background, groupOf }: Compared, used: Uint8Array): Games {
  const { columns, numbers: measured, rows } = background;
  const players = Array.from({ length: rows }, (_, row) => {
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
  const common = new Set(groupOf.filter((_, column) => used[column] === 1));
  return { players, common: [...common].sort((a, b) => a - b) };
}
