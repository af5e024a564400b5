import type { Background } from '../../model/background';
import { isLeft, LEAF, type Trees } from '../../trees/trees';

/** The row being explained (the foreground), and the background rows it is compared with. */
export interface ForegroundRow {
  /** Its bin in each column. */
  bins: Uint8Array;
  /** Its value in each numeric or date column; NaN where missing and in all other columns. */
  numbers: Float64Array;
  background: Background;
  /** Per column, the index of its group. */
  groupOf: Int32Array;
  groups: number;
}

const goingLeft = new WeakMap<Trees, { background: Background; masks: Int32Array }>();

/** Per node, the background rows that would go left: bit r for row r. Cached with the trees. */
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

/** Every background row, as bits. */
export function allRows({ rows }: Background): number {
  return rows === 32 ? -1 : (1 << rows) - 1;
}
