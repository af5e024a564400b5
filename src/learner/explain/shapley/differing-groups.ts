import type { ForegroundRow } from './foreground';

/**
 * The players of each background row's game: the groups in which it differs from the foreground row. Every other
 * group changes nothing when it switches, so its Shapley value is 0.
 */
export interface DifferingGroups {
  /** Per background row, the indices of its groups. */
  players: number[][];
  /** The groups in which any two rows can differ. */
  common: number[];
}

/** @param used 1 for each column that some member reads, else 0 */
export function findDifferingGroups(
  { bins, numbers, background, groupOf }: ForegroundRow,
  used: Uint8Array,
): DifferingGroups {
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
