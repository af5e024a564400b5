import { Dimension, POSITIONS_TOGETHER } from './layout';
import {
  addNumber,
  addPair,
  dot0,
  dot1,
  dot2,
  dot3,
  Exponential,
  FourDots,
  GROUP,
  NUMBER,
  PAIR,
} from './shared.as';

/* The loops of `dense.ts`, four rows at a time. */

function less(at: usize, product: f64, diagonal: f64): void {
  store<f64>(at, (load<f64>(at) - product) / diagonal);
}

/**
 * Computes four rows of a Cholesky factor, up to the diagonal of the first of them; or solves for four right sides.
 *
 * @param matrix its first row
 * @param end where the rows end that are done
 * @param rows the first of the four
 * @param length of a row
 */
export function factoriseFour(matrix: usize, end: usize, rows: usize, length: usize): void {
  let other = matrix;
  for (let done: usize = 0; other < end; done += NUMBER, other += length) {
    const last = other + done;
    const row1 = rows + length;
    const row2 = row1 + length;
    const row3 = row2 + length;
    FourDots.find(rows, row1, row2, row3, other, last - (done & (GROUP - 1)), last);
    const diagonal = load<f64>(last);
    less(rows + done, dot0, diagonal);
    less(row1 + done, dot1, diagonal);
    less(row2 + done, dot2, diagonal);
    less(row3 + done, dot3, diagonal);
  }
}

/**
 * Adds `sign` times the products of the columns of four rows to the lower triangle of `out`.
 *
 * @param used length of the rows, of which all else is 0
 * @param length of a row
 */
export function addGramFour(
  row0: usize,
  row1: usize,
  row2: usize,
  row3: usize,
  used: usize,
  length: usize,
  sign: f64,
  out: usize,
): void {
  for (let done: usize = 0; done < used; out += length) {
    const by0 = sign * load<f64>(row0 + done);
    const by1 = sign * load<f64>(row1 + done);
    const by2 = sign * load<f64>(row2 + done);
    const by3 = sign * load<f64>(row3 + done);
    const pair0 = f64x2.splat(by0);
    const pair1 = f64x2.splat(by1);
    const pair2 = f64x2.splat(by2);
    const pair3 = f64x2.splat(by3);
    done += NUMBER;
    const even = done - (done & NUMBER);
    let at: usize = 0;
    for (; at < even; at += PAIR) {
      addPair(
        out + at,
        f64x2.add(
          f64x2.add(f64x2.mul(pair0, v128.load(row0 + at)), f64x2.mul(pair1, v128.load(row1 + at))),
          f64x2.add(f64x2.mul(pair2, v128.load(row2 + at)), f64x2.mul(pair3, v128.load(row3 + at))),
        ),
      );
    }
    if (at < done) {
      addNumber(
        out + at,
        by0 * load<f64>(row0 + at) +
          by1 * load<f64>(row1 + at) +
          (by2 * load<f64>(row2 + at) + by3 * load<f64>(row3 + at)),
      );
    }
  }
}

/**
 * Subtracts from a row of a pivoted factor what earlier rows explain of it.
 *
 * @param factor its first row
 * @param own the row, behind those before it
 * @param length of a row
 * @param even of it, those in groups of eight
 * @param pivot where a row's share is
 */
export function takeShares(factor: usize, own: usize, length: usize, even: usize, pivot: usize): void {
  let to = own;
  for (const end = own + even; to < end; to += 4 * PAIR) {
    let pair0 = v128.load(to);
    let pair1 = v128.load(to, PAIR);
    let pair2 = v128.load(to, 2 * PAIR);
    let pair3 = v128.load(to, 3 * PAIR);
    for (let row = factor; row < own; row += length) {
      const share = v128.load64_splat(row + pivot);
      const at = row + (to - own);
      pair0 = f64x2.sub(pair0, f64x2.mul(share, v128.load(at)));
      pair1 = f64x2.sub(pair1, f64x2.mul(share, v128.load(at, PAIR)));
      pair2 = f64x2.sub(pair2, f64x2.mul(share, v128.load(at, 2 * PAIR)));
      pair3 = f64x2.sub(pair3, f64x2.mul(share, v128.load(at, 3 * PAIR)));
    }
    v128.store(to, pair0);
    v128.store(to, pair1, PAIR);
    v128.store(to, pair2, 2 * PAIR);
    v128.store(to, pair3, 3 * PAIR);
  }
  for (const end = own + length; to < end; to += NUMBER) {
    let left = load<f64>(to);
    for (let row = factor; row < own; row += length) {
      left -= load<f64>(row + pivot) * load<f64>(row + (to - own));
    }
    store<f64>(to, left);
  }
}

/* The loops of `MaternRows`: products of Matérn kernels, eight positions at a time. */

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

/**
 * Writes the kernel between one position and others.
 *
 * @param others those of the first dimension; `length` leads to the next one
 * @param table of `writeExponentialTable`
 */
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
    for (let dimension = dimensions; dimension < dimensionsEnd; dimension += Dimension.BYTES, at += length) {
      const position = v128.load64_splat(dimension, Dimension.POSITION);
      const rate = v128.load64_splat(dimension, Dimension.RATE);
      const isCategory = load<f64>(dimension, Dimension.IS_CATEGORY) > 0;
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

/**
 * Writes the derivative of the sum by the logarithm of each dimension's rate.
 *
 * @param gaps of the first dimension; `length` leads to the next one
 * @param shares of all pairs, a multiple of two
 * @param out receives a number per dimension
 */
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
  for (; dimensions < dimensionsEnd; dimensions += Dimension.BYTES, gaps += length, out += NUMBER) {
    const rate = v128.load64_splat(dimensions, Dimension.RATE);
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

/** 1 - weight + weight × Matérn kernel, for two positions. */
class Factor {
  @inline
  static of(s: v128, weight: v128, rest: v128, table: usize): v128 {
    const matern = f64x2.mul(polynomial(s), Exponential.of(f64x2.neg(s), table));
    return f64x2.add(rest, f64x2.mul(weight, matern));
  }
}

/** As `maternRow`, of the product of 1 - weight + weight × kernel of each dimension. */
export function additiveRow(
  dimensions: usize,
  dimensionsEnd: usize,
  others: usize,
  length: usize,
  table: usize,
  out: usize,
): void {
  const end = others + length;
  for (; others < end; others += 2 * PAIR, out += 2 * PAIR) {
    let factor0 = f64x2.splat(1);
    let factor1 = f64x2.splat(1);
    let at = others;
    for (let dimension = dimensions; dimension < dimensionsEnd; dimension += Dimension.BYTES, at += length) {
      const position = v128.load64_splat(dimension, Dimension.POSITION);
      const rate = v128.load64_splat(dimension, Dimension.RATE);
      const weight = v128.load64_splat(dimension, Dimension.WEIGHT);
      const rest = f64x2.sub(f64x2.splat(1), weight);
      const isCategory = load<f64>(dimension, Dimension.IS_CATEGORY) > 0;
      const s0 = scaled(f64x2.sub(position, v128.load(at)), rate, isCategory);
      const s1 = scaled(f64x2.sub(position, v128.load(at, PAIR)), rate, isCategory);
      factor0 = f64x2.mul(factor0, Factor.of(s0, weight, rest, table));
      factor1 = f64x2.mul(factor1, Factor.of(s1, weight, rest, table));
    }
    v128.store(out, factor0);
    v128.store(out + PAIR, factor1);
  }
}

/**
 * As `maternSlopes`, of the same.
 *
 * @param out receives two numbers per dimension: by the logarithm of its rate, and by that of the odds of its weight
 */
export function additiveSlopes(
  dimensions: usize,
  dimensionsEnd: usize,
  gaps: usize,
  length: usize,
  table: usize,
  shares: usize,
  sharesEnd: usize,
  out: usize,
): void {
  const ones = f64x2.splat(1);
  const threes = f64x2.splat(3);
  for (; dimensions < dimensionsEnd; dimensions += Dimension.BYTES, gaps += length, out += PAIR) {
    const rate = v128.load64_splat(dimensions, Dimension.RATE);
    const weight = v128.load64_splat(dimensions, Dimension.WEIGHT);
    const rest = f64x2.sub(ones, weight);
    let byRate: f64 = 0;
    let byWeight: f64 = 0;
    let at = gaps;
    for (let share = shares; share < sharesEnd; share += PAIR, at += PAIR) {
      const s = f64x2.mul(rate, v128.load(at));
      const falling = Exponential.of(f64x2.neg(s), table);
      const square = f64x2.div(f64x2.mul(s, s), threes);
      const matern = f64x2.mul(f64x2.add(f64x2.add(ones, s), square), falling);
      const own = f64x2.div(v128.load(share), f64x2.add(rest, f64x2.mul(weight, matern)));
      const rateTerm = f64x2.mul(f64x2.mul(own, f64x2.mul(square, f64x2.add(ones, s))), falling);
      const weightTerm = f64x2.mul(own, f64x2.sub(ones, matern));
      byRate = byRate - f64x2.extract_lane(rateTerm, 0) - f64x2.extract_lane(rateTerm, 1);
      byWeight = byWeight - f64x2.extract_lane(weightTerm, 0) - f64x2.extract_lane(weightTerm, 1);
    }
    const own = load<f64>(dimensions, Dimension.WEIGHT);
    store<f64>(out, own * byRate);
    store<f64>(out, own * (1 - own) * byWeight, NUMBER);
  }
}
