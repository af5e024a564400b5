const ALL = -1;

/*
 * The loops of `set-kernel.ts` in JavaScript: intersect the reachable leaves of each row with those that its bins
 * leave reachable.
 */

/** Four columns at once. The first ones of a tree start with every leaf. */
export function andFour(
  reachable: Int32Array,
  isFirst: boolean,
  [bins0, bins1, bins2, bins3]: Uint8Array[],
  tables: Int32Array[],
  slot: number,
): void {
  const table0 = tables[slot];
  const table1 = tables[slot + 1];
  const table2 = tables[slot + 2];
  const table3 = tables[slot + 3];
  const keep = isFirst ? ALL : 0;
  for (let i = 0; i < reachable.length; i++) {
    reachable[i] =
      (reachable[i] | keep) & table0[bins0[i]] & table1[bins1[i]] & table2[bins2[i]] & table3[bins3[i]];
  }
}

export function andOne(reachable: Int32Array, isFirst: boolean, bins: Uint8Array, table: Int32Array): void {
  const keep = isFirst ? ALL : 0;
  for (let i = 0; i < reachable.length; i++) {
    reachable[i] = (reachable[i] | keep) & table[bins[i]];
  }
}
