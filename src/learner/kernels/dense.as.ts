/* The loops of `dense.ts`, four rows at a time. Dot products have four partial sums each, as in `dotAt`. */
import { addNumber, addPair, plusFirst, plusProduct, sumOfLanes } from './pairs.as';

const NUMBER: usize = 8;
const PAIR: usize = 16;
/** Two pairs of numbers. */
const GROUP: usize = 32;

function less(at: usize, product: f64, diagonal: f64): void {
  store<f64>(at, (load<f64>(at) - product) / diagonal);
}

export function factoriseFour(matrix: usize, end: usize, rows: usize, length: usize): void {
  let other = matrix;
  for (let done: usize = 0; other < end; done += NUMBER, other += length) {
    let row0 = rows;
    let row1 = row0 + length;
    let row2 = row1 + length;
    let row3 = row2 + length;
    let ahead0 = f64x2.splat(0);
    let behind0 = f64x2.splat(0);
    let ahead1 = f64x2.splat(0);
    let behind1 = f64x2.splat(0);
    let ahead2 = f64x2.splat(0);
    let behind2 = f64x2.splat(0);
    let ahead3 = f64x2.splat(0);
    let behind3 = f64x2.splat(0);
    const last = other + done;
    const even = last - (done & (GROUP - 1));
    let k = other;
    for (; k < even; k += GROUP) {
      const first = v128.load(k);
      const second = v128.load(k, PAIR);
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
    for (; k < last; k += NUMBER) {
      const one = load<f64>(k);
      ahead0 = plusFirst(ahead0, load<f64>(row0) * one);
      ahead1 = plusFirst(ahead1, load<f64>(row1) * one);
      ahead2 = plusFirst(ahead2, load<f64>(row2) * one);
      ahead3 = plusFirst(ahead3, load<f64>(row3) * one);
      row0 += NUMBER;
      row1 += NUMBER;
      row2 += NUMBER;
      row3 += NUMBER;
    }
    // Each row is now where its number of this column is, and `k` at the diagonal.
    const diagonal = load<f64>(k);
    less(row0, sumOfLanes(ahead0) + sumOfLanes(behind0), diagonal);
    less(row1, sumOfLanes(ahead1) + sumOfLanes(behind1), diagonal);
    less(row2, sumOfLanes(ahead2) + sumOfLanes(behind2), diagonal);
    less(row3, sumOfLanes(ahead3) + sumOfLanes(behind3), diagonal);
  }
}

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
