/**
 * Stable partition of `rows[start … end - 1]`: those that go left first. Returns where the right ones begin.
 *
 * @param goesLeft per bin, 1 if it goes left, else 0
 * @param bins the bin of every row of the table
 * @param spare scratch for as many rows
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
  // Every row is written to both sides and counted on one: branch-free, since a branch would be mispredicted.
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
