import { Yielder } from '../../util/event-loop';

/** Classes of all rows, by code, and how many there are of each. */
export interface Coded {
  codes: Int32Array;
  counts: number[];
}

/** More rows than these make the scores no surer, and a metered service charges for each. */
export const MOST_HELD_ROWS = 10_000;

/**
 * Which rows are kept back: `true` where the mask is 1. Each class gives its part of them, to a row, and always keeps
 * one at least; which of its rows is by chance (Knuth, The Art of Computer Programming 2, algorithm S). The same seed
 * and rows give the same mask.
 *
 * @param percent of the rows; at most MOST_HELD_ROWS are kept back
 */
export async function chooseHeld(
  { codes, counts }: Coded,
  percent: number,
  seed: number,
): Promise<Uint8Array> {
  const part = Math.min(percent / 100, MOST_HELD_ROWS / Math.max(1, codes.length));
  const quota = quotas(counts, part);
  const left = [...counts];
  const random = mulberry32(seed);
  const held = new Uint8Array(codes.length);
  const yielder = new Yielder();
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!;
    if (random() * left[code]!-- < quota[code]!) {
      held[row] = 1;
      quota[code]!--;
    }
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  return held;
}

/**
 * Rounded so that what one class loses by it the next gains: many small classes together give their part too. What a
 * class cannot give, because one row must stay, is not asked of another.
 */
function quotas(counts: readonly number[], part: number): number[] {
  let owed = 0;
  return counts.map((count) => {
    owed += count * part;
    // The sum of parts such as 0.1 falls short of a whole number by its rounding.
    const whole = Math.floor(owed + 1e-9);
    owed -= whole;
    return Math.max(0, Math.min(count - 1, whole));
  });
}

/** Tommy Ettinger's generator of 32 bits of state; numbers from 0 to 1 (exclusive). */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
