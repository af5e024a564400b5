import type { Background } from '../../model/background';
import { isLeft, LEAF, type Trees } from '../../trees/trees';

/** A row beside the rows of the background: what the walks of this folder are given. */
export interface Compared {
  /** The row's bin in each column. */
  bins: Uint8Array;
  /** Its value in each column of numbers or dates; NaN where missing, and in others. */
  numbers: Float64Array;
  background: Background;
  /** Per column the number of its group, from 0. */
  groupOf: Int32Array;
  groups: number;
}

const goingLeft = new WeakMap<Trees, { background: Background; masks: Int32Array }>();

/** Of each node, the background's rows that would go left: bit r for row r. Kept with the trees. */
export function leftMasks(trees: Trees, background: Background): Int32Array {
  const known = goingLeft.get(trees);
  if (known?.background === background) {
    return known.masks;
  }
  const masks = new Int32Array(trees.feature.length);
  for (let node = 0; node < masks.length; node++) {
    if (trees.feature[node] === LEAF) {
      continue;
    }
    const bins = background.columns[trees.feature[node]];
    for (let row = 0; row < background.rows; row++) {
      if (isLeft(trees, node, bins[row])) {
        masks[node] |= 1 << row;
      }
    }
  }
  goingLeft.set(trees, { background, masks });
  return masks;
}

/** All rows of the background, as bits. */
export function allRows({ rows }: Background): number {
  return rows === 32 ? -1 : (1 << rows) - 1;
}
