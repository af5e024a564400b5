/** The number of bits set in a 32-bit integer. */
export function bitCount(bits: number): number {
  let pairs = bits - ((bits >>> 1) & 0x55555555);
  pairs = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((pairs + (pairs >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The index of the lowest bit set. */
export function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
