/**
 * Layout of a node's histogram: columns × bins × `stride`, one column after another. A bin holds the sums of its
 * rows' gradients, then of their hessian. All lie on the grid of `quantise`, so every sum is exact, and a child's
 * histogram equals its parent's minus its sibling's to the bit.
 */
export interface HistogramLayout {
  /** The columns, and where the histogram of each begins. */
  columns: Uint8Array[];
  offsets: Int32Array;
  stride: number;
}

/** Subtracts rows. `gathered`: rows × `stride`, their gradients and hessian in the order of `rows`. */
export function removeRows(
  sums: Float64Array,
  { columns, offsets, stride }: HistogramLayout,
  rows: Int32Array,
  gathered: Float64Array,
): void {
  for (let i = 0; i < columns.length; i++) {
    const bins = columns[i];
    const offset = offsets[i];
    for (let row = 0, from = 0; row < rows.length; row++) {
      const at = offset + bins[rows[row]] * stride;
      for (let d = 0; d < stride; d++, from++) {
        sums[at + d] -= gathered[from];
      }
    }
  }
}
