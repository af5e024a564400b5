/* The loops of `MaternRows`: products of Matérn kernels, eight positions at a time. */
import { Exponential } from './exponential.as';
import {
  DIMENSION_BYTES,
  DIMENSION_IS_CATEGORY,
  DIMENSION_POSITION,
  DIMENSION_RATE,
  POSITIONS_TOGETHER,
} from './layout';

const NUMBER: usize = 8;
const PAIR: usize = 16;

/** The distance times the rate, for two positions. */
function scaled(gap: v128, rate: v128, isCategory: bool): v128 {
  return f64x2.mul(
    rate,
    isCategory ? v128.and(f64x2.ne(gap, f64x2.splat(0)), f64x2.splat(1)) : f64x2.abs(gap),
  );
}

/** 1 + s + s² / 3. */
function polynomial(s: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.splat(1), s), f64x2.div(f64x2.mul(s, s), f64x2.splat(3)));
}

class Matern {
  @inline
  static write(out: usize, factor: v128, sum: v128, table: usize): void {
    v128.store(out, f64x2.mul(factor, Exponential.of(f64x2.neg(sum), table)));
  }
}

export function maternRow(
  dimensions: usize,
  dimensionsEnd: usize,
  others: usize,
  length: usize,
  table: usize,
  out: usize,
): void {
  const end = others + length;
  for (; others < end; others += POSITIONS_TOGETHER * NUMBER, out += POSITIONS_TOGETHER * NUMBER) {
    let factor0 = f64x2.splat(1);
    let factor1 = f64x2.splat(1);
    let factor2 = f64x2.splat(1);
    let factor3 = f64x2.splat(1);
    let sum0 = f64x2.splat(0);
    let sum1 = f64x2.splat(0);
    let sum2 = f64x2.splat(0);
    let sum3 = f64x2.splat(0);
    let at = others;
    for (let dimension = dimensions; dimension < dimensionsEnd; dimension += DIMENSION_BYTES, at += length) {
      const position = v128.load64_splat(dimension, DIMENSION_POSITION);
      const rate = v128.load64_splat(dimension, DIMENSION_RATE);
      const isCategory = load<f64>(dimension, DIMENSION_IS_CATEGORY) > 0;
      const s0 = scaled(f64x2.sub(position, v128.load(at)), rate, isCategory);
      const s1 = scaled(f64x2.sub(position, v128.load(at, PAIR)), rate, isCategory);
      const s2 = scaled(f64x2.sub(position, v128.load(at, 2 * PAIR)), rate, isCategory);
      const s3 = scaled(f64x2.sub(position, v128.load(at, 3 * PAIR)), rate, isCategory);
      factor0 = f64x2.mul(factor0, polynomial(s0));
      factor1 = f64x2.mul(factor1, polynomial(s1));
      factor2 = f64x2.mul(factor2, polynomial(s2));
      factor3 = f64x2.mul(factor3, polynomial(s3));
      sum0 = f64x2.add(sum0, s0);
      sum1 = f64x2.add(sum1, s1);
      sum2 = f64x2.add(sum2, s2);
      sum3 = f64x2.add(sum3, s3);
    }
    Matern.write(out, factor0, sum0, table);
    Matern.write(out + PAIR, factor1, sum1, table);
    Matern.write(out + 2 * PAIR, factor2, sum2, table);
    Matern.write(out + 3 * PAIR, factor3, sum3, table);
  }
}

export function maternSlopes(
  dimensions: usize,
  dimensionsEnd: usize,
  gaps: usize,
  length: usize,
  shares: usize,
  sharesEnd: usize,
  out: usize,
): void {
  const ones = f64x2.splat(1);
  const threes = f64x2.splat(3);
  for (; dimensions < dimensionsEnd; dimensions += DIMENSION_BYTES, gaps += length, out += NUMBER) {
    const rate = v128.load64_splat(dimensions, DIMENSION_RATE);
    let slope: f64 = 0;
    let at = gaps;
    for (let share = shares; share < sharesEnd; share += PAIR, at += PAIR) {
      const s = f64x2.mul(rate, v128.load(at));
      const term = f64x2.div(
        f64x2.mul(f64x2.mul(f64x2.mul(v128.load(share), s), s), f64x2.add(ones, s)),
        f64x2.add(f64x2.add(threes, f64x2.mul(threes, s)), f64x2.mul(s, s)),
      );
      slope = slope - f64x2.extract_lane(term, 0) - f64x2.extract_lane(term, 1);
    }
    store<f64>(out, slope);
  }
}
