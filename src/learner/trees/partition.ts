/**
 * Puts those of `rows[start … end - 1]` that go left before those that go right, each in their old order; returns the place
 * of the first right one.
 *
 * @param goes 1 for the bins that go left, else 0
 * @param bins the bin of every row of the table
 * @param spare room for as many rows
 */
export function partition(
  goes: Uint8Array,
  bins: Uint8Array,
  rows: Int32Array,
  start: number,
  end: number,
  spare: Int32Array,
): number {
  let to = start;
  let right = 0;
  // Each row is written to both sides and counted on one: no branch that the processor would have to guess.
  for (let i = start; i < end; i++) {
    const row = rows[i]!;
    const isLeft = goes[bins[row]!]!;
    rows[to] = row;
    spare[right] = row;
    to += isLeft;
    right += 1 - isLeft;
  }
  for (let i = 0; i < right; i++) {
    rows[to + i] = spare[i]!;
  }
  return to;
}
