import { POWERS, ROOTS } from './layout';

/** Bytes of a whole number, of a number and of a pair of them. */
export const WHOLE: usize = 4;
export const NUMBER: usize = 8;
export const PAIR: usize = 16;

/** The sum of a pair. */
export function sumOfLanes(pair: v128): f64 {
  return f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
}

/** `sums` plus the products of two pairs. */
export function plusProduct(sums: v128, a: v128, b: v128): v128 {
  return f64x2.add(sums, f64x2.mul(a, b));
}

/** What `FourDots` found. */
export let dot0: f64 = 0;
export let dot1: f64 = 0;
export let dot2: f64 = 0;
export let dot3: f64 = 0;

/** Two pairs of numbers. */
export const GROUP: usize = 32;

export class FourDots {
  /**
   * Finds the dot products of four rows with one, each in four partial sums, as in `dotAt`.
   *
   * @param even the end of the one row, as far as it is in groups of four numbers; `end` is that of all of it
   */
  @inline
  static find(row0: usize, row1: usize, row2: usize, row3: usize, one: usize, even: usize, end: usize): void {
    let ahead0 = f64x2.splat(0);
    let behind0 = f64x2.splat(0);
    let ahead1 = f64x2.splat(0);
    let behind1 = f64x2.splat(0);
    let ahead2 = f64x2.splat(0);
    let behind2 = f64x2.splat(0);
    let ahead3 = f64x2.splat(0);
    let behind3 = f64x2.splat(0);
    for (; one < even; one += GROUP) {
      const first = v128.load(one);
      const second = v128.load(one, PAIR);
      ahead0 = plusProduct(ahead0, v128.load(row0), first);
      behind0 = plusProduct(behind0, v128.load(row0, PAIR), second);
      ahead1 = plusProduct(ahead1, v128.load(row1), first);
      behind1 = plusProduct(behind1, v128.load(row1, PAIR), second);
      ahead2 = plusProduct(ahead2, v128.load(row2), first);
      behind2 = plusProduct(behind2, v128.load(row2, PAIR), second);
      ahead3 = plusProduct(ahead3, v128.load(row3), first);
      behind3 = plusProduct(behind3, v128.load(row3, PAIR), second);
      row0 += GROUP;
      row1 += GROUP;
      row2 += GROUP;
      row3 += GROUP;
    }
    for (; one < end; one += NUMBER) {
      const by = load<f64>(one);
      ahead0 = plusFirst(ahead0, load<f64>(row0) * by);
      ahead1 = plusFirst(ahead1, load<f64>(row1) * by);
      ahead2 = plusFirst(ahead2, load<f64>(row2) * by);
      ahead3 = plusFirst(ahead3, load<f64>(row3) * by);
      row0 += NUMBER;
      row1 += NUMBER;
      row2 += NUMBER;
      row3 += NUMBER;
    }
    dot0 = sumOfLanes(ahead0) + sumOfLanes(behind0);
    dot1 = sumOfLanes(ahead1) + sumOfLanes(behind1);
    dot2 = sumOfLanes(ahead2) + sumOfLanes(behind2);
    dot3 = sumOfLanes(ahead3) + sumOfLanes(behind3);
  }
}

/** Adds to the first of two sums. */
function plusFirst(sums: v128, value: f64): v128 {
  return f64x2.replace_lane(sums, 0, f64x2.extract_lane(sums, 0) + value);
}

/** Adds a pair to one in memory. */
export function addPair(at: usize, pair: v128): void {
  v128.store(at, f64x2.add(v128.load(at), pair));
}

/** Adds to a number in memory. */
export function addNumber(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}

const LOWEST: f64 = -745.1332191019411;
/** 32 / ln 2, and ln 2 / 32 in two parts. */
const PER_STEP: f64 = 46.16624130844683;
const STEP_HIGH: f64 = 0.6931471803691238 / 32;
const STEP_LOW: f64 = 1.9082149292705877e-10 / 32;
/** 1.5 · 2^52: adding and subtracting it rounds to an integer. */
const ROUND: f64 = 6755399441055744;

export class Exponential {
  /**
   * e^x for two numbers at most 0, by the operations of `exp` in `math/numeric.ts`, so to the same bits.
   *
   * @param table of `writeExponentialTable`
   */
  @inline
  static of(x: v128, table: usize): v128 {
    const lowest = f64x2.splat(LOWEST);
    const rounding = f64x2.splat(ROUND);
    const known = f64x2.pmax(x, lowest);
    const n = f64x2.sub(f64x2.add(f64x2.mul(known, f64x2.splat(PER_STEP)), rounding), rounding);
    let r = f64x2.sub(known, f64x2.mul(n, f64x2.splat(STEP_HIGH)));
    r = f64x2.sub(r, f64x2.mul(n, f64x2.splat(STEP_LOW)));
    const z = f64x2.mul(r, r);
    const whole = i32x4.trunc_sat_f64x2_s_zero(n);
    const first = i32x4.extract_lane(whole, 0);
    const second = i32x4.extract_lane(whole, 1);
    const roots = v128.load64_lane(
      table + ((second & (ROOTS - 1)) << 3),
      v128.load64_splat(table + ((first & (ROOTS - 1)) << 3)),
      1,
    );
    // Added before it is multiplied, so that the index is never negative.
    const powersAt = table + ROOTS * 8;
    const powers = v128.load64_lane(
      powersAt + (((second >> 5) + (POWERS - 1)) << 3),
      v128.load64_splat(powersAt + (((first >> 5) + (POWERS - 1)) << 3)),
      1,
    );
    const small = f64x2.add(
      f64x2.add(f64x2.splat(1.0 / 24), f64x2.mul(r, f64x2.splat(1.0 / 120))),
      f64x2.mul(z, f64x2.splat(1.0 / 720)),
    );
    const large = f64x2.add(
      f64x2.add(f64x2.splat(1.0 / 2), f64x2.mul(r, f64x2.splat(1.0 / 6))),
      f64x2.mul(z, small),
    );
    const rest = f64x2.add(r, f64x2.mul(z, large));
    const result = f64x2.mul(f64x2.add(roots, f64x2.mul(roots, rest)), powers);
    return v128.andnot(result, f64x2.gt(lowest, x));
  }
}
