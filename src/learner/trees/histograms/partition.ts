/**
 * Stable partition of `rows[start … end - 1]`: those that go left first. Returns where the right ones begin.
 *
 * @param goesLeft per bin: 1 where it goes left, else 0
 * @param bins the bin of every row of the table
 * @param spare scratch space for as many rows
 */
export function partition(
  goesLeft: Uint8Array,
  bins: Uint8Array,
  rows: Int32Array,
  start: number,
  end: number,
  spare: Int32Array,
): number {
  let to = start;
  let right = 0;
  // Each row is written to both sides and counted on one, which avoids an unpredictable branch.
  for (let i = start; i < end; i++) {
    const row = rows[i];
    const isLeft = goesLeft[bins[row]];
    rows[to] = row;
    spare[right] = row;
    to += isLeft;
    right += 1 - isLeft;
  }
  for (let i = 0; i < right; i++) {
    rows[to + i] = spare[i];
  }
  return to;
}
