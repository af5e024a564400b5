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

/** Adds rows. `gathered`: rows × `stride`, their gradients and hessian in the order of `rows`. */
export function addRows(
  sums: Float64Array,
  { columns, offsets, stride }: HistogramLayout,
  rows: Int32Array,
  gathered: Float64Array,
): void {
  let i = 0;
  if (stride === 2) {
    for (; i + 3 < columns.length; i += 4) {
      addFour(columns, rows, gathered, sums, offsets, i);
    }
  }
  for (; i < columns.length; i++) {
    addOne(columns[i], rows, gathered, stride, sums, offsets[i]);
  }
}

/** Subtracts rows, as `addRows` adds them. */
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

/**
 * Four columns at a time: an addition often waits for the previous one to the same bin, and four chains hide that
 * latency.
 */
function addFour(
  columns: Uint8Array[],
  rows: Int32Array,
  gathered: Float64Array,
  sums: Float64Array,
  offsets: Int32Array,
  first: number,
): void {
  const bins0 = columns[first];
  const bins1 = columns[first + 1];
  const bins2 = columns[first + 2];
  const bins3 = columns[first + 3];
  const offset0 = offsets[first];
  const offset1 = offsets[first + 1];
  const offset2 = offsets[first + 2];
  const offset3 = offsets[first + 3];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const gradient = gathered[i * 2];
    const hessian = gathered[i * 2 + 1];
    const at0 = offset0 + bins0[row] * 2;
    const at1 = offset1 + bins1[row] * 2;
    const at2 = offset2 + bins2[row] * 2;
    const at3 = offset3 + bins3[row] * 2;
    sums[at0] += gradient;
    sums[at1] += gradient;
    sums[at2] += gradient;
    sums[at3] += gradient;
    sums[at0 + 1] += hessian;
    sums[at1 + 1] += hessian;
    sums[at2 + 1] += hessian;
    sums[at3 + 1] += hessian;
  }
}

function addOne(
  bins: Uint8Array,
  rows: Int32Array,
  gathered: Float64Array,
  stride: number,
  sums: Float64Array,
  offset: number,
): void {
  for (let i = 0, from = 0; i < rows.length; i++) {
    const at = offset + bins[rows[i]] * stride;
    for (let d = 0; d < stride; d++, from++) {
      sums[at + d] += gathered[from];
    }
  }
}
