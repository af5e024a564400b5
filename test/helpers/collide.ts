import { crc32c } from '../doors/table';

/** Bits of a text that may be turned without making it another kind of text: two of each digit ("0" to "3"). */
const TURNED = [1, 2];

/**
 * A text like the template, of the same length and CRC32C as `like`, made by turning bits of the digits between
 * `from` and `to`. A CRC is linear in the bits of texts of one length, so that is an equation over 32 bits.
 *
 * @param template of the length of `like`; zeros between `from` and `to`, at least 24 of them
 */
export function collide(like: string, template: string, from: number, to: number): string {
  const bytes = Buffer.from(template);
  const base = crc32c(bytes);
  const wanted = (crc32c(Buffer.from(like)) ^ base) >>> 0;
  // What turning each bit does to the checksum, by Gauss into rows with leading bits of their own.
  const rows = new Map<number, { effect: number; turns: bigint }>();
  const reduce = (effect: number, turns: bigint): { effect: number; turns: bigint } => {
    for (let bit = 31; bit >= 0; bit--) {
      const row = rows.get(bit);
      if (row !== undefined && ((effect >>> bit) & 1) === 1) {
        effect = (effect ^ row.effect) >>> 0;
        turns ^= row.turns;
      }
    }
    return { effect, turns };
  };
  const bits: { at: number; mask: number }[] = [];
  for (let at = from; at < to; at++) {
    for (const mask of TURNED) {
      const turned = Buffer.from(bytes);
      turned[at]! ^= mask;
      const row = reduce((crc32c(turned) ^ base) >>> 0, 1n << BigInt(bits.length));
      bits.push({ at, mask });
      if (row.effect !== 0) {
        rows.set(31 - Math.clz32(row.effect), row);
      }
    }
  }
  const { effect, turns } = reduce(wanted, 0n);
  if (effect !== 0) {
    throw new Error('There are too few digits to turn.');
  }
  bits.forEach(({ at, mask }, i) => {
    if (((turns >> BigInt(i)) & 1n) === 1n) {
      bytes[at]! ^= mask;
    }
  });
  return bytes.toString();
}
