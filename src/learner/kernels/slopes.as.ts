/* The loops of `Slopes`. Dot products have four partial sums each, as in `dotAt`. */
import { addNumber, plusFirst, plusProduct, sumOfLanes } from './pairs.as';

const WHOLE: usize = 4;
const NUMBER: usize = 8;
const PAIR: usize = 16;
/** Two pairs of numbers. */
const GROUP: usize = 32;

function rowAt(rows: usize, i: usize, length: usize, features: usize): usize {
  return load<u32>(rows + i * WHOLE) * length + features;
}

export function dotFour(
  rows: usize,
  end: usize,
  features: usize,
  even: usize,
  length: usize,
  weights: usize,
  out: usize,
  stride: usize,
): void {
  for (; rows < end; rows += 4 * WHOLE) {
    let row0 = rowAt(rows, 0, length, features);
    let row1 = rowAt(rows, 1, length, features);
    let row2 = rowAt(rows, 2, length, features);
    let row3 = rowAt(rows, 3, length, features);
    let ahead0 = f64x2.splat(0);
    let behind0 = f64x2.splat(0);
    let ahead1 = f64x2.splat(0);
    let behind1 = f64x2.splat(0);
    let ahead2 = f64x2.splat(0);
    let behind2 = f64x2.splat(0);
    let ahead3 = f64x2.splat(0);
    let behind3 = f64x2.splat(0);
    let weight = weights;
    for (const evenEnd = weights + even; weight < evenEnd; weight += GROUP) {
      const first = v128.load(weight);
      const second = v128.load(weight, PAIR);
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
    for (const last = weights + length; weight < last; weight += NUMBER) {
      const one = load<f64>(weight);
      ahead0 = plusFirst(ahead0, load<f64>(row0) * one);
      ahead1 = plusFirst(ahead1, load<f64>(row1) * one);
      ahead2 = plusFirst(ahead2, load<f64>(row2) * one);
      ahead3 = plusFirst(ahead3, load<f64>(row3) * one);
      row0 += NUMBER;
      row1 += NUMBER;
      row2 += NUMBER;
      row3 += NUMBER;
    }
    store<f64>(out, sumOfLanes(ahead0) + sumOfLanes(behind0));
    out += stride;
    store<f64>(out, sumOfLanes(ahead1) + sumOfLanes(behind1));
    out += stride;
    store<f64>(out, sumOfLanes(ahead2) + sumOfLanes(behind2));
    out += stride;
    store<f64>(out, sumOfLanes(ahead3) + sumOfLanes(behind3));
    out += stride;
  }
}

export function dotOne(
  rows: usize,
  end: usize,
  features: usize,
  even: usize,
  length: usize,
  weights: usize,
  out: usize,
  stride: usize,
): void {
  for (; rows < end; rows += WHOLE, out += stride) {
    let row = rowAt(rows, 0, length, features);
    let ahead = f64x2.splat(0);
    let behind = f64x2.splat(0);
    let weight = weights;
    for (const evenEnd = weights + even; weight < evenEnd; weight += GROUP, row += GROUP) {
      ahead = plusProduct(ahead, v128.load(row), v128.load(weight));
      behind = plusProduct(behind, v128.load(row, PAIR), v128.load(weight, PAIR));
    }
    for (const last = weights + length; weight < last; weight += NUMBER, row += NUMBER) {
      ahead = plusFirst(ahead, load<f64>(row) * load<f64>(weight));
    }
    store<f64>(out, sumOfLanes(ahead) + sumOfLanes(behind));
  }
}

export function addRowsFour(
  rows: usize,
  end: usize,
  features: usize,
  even: usize,
  length: usize,
  sums: usize,
  errors: usize,
  stride: usize,
): void {
  for (; rows < end; rows += 4 * WHOLE, errors += 4 * stride) {
    const row0 = rowAt(rows, 0, length, features);
    const row1 = rowAt(rows, 1, length, features);
    const row2 = rowAt(rows, 2, length, features);
    const row3 = rowAt(rows, 3, length, features);
    const error0 = load<f64>(errors);
    const error1 = load<f64>(errors + stride);
    const error2 = load<f64>(errors + 2 * stride);
    const error3 = load<f64>(errors + 3 * stride);
    const pair0 = f64x2.splat(error0);
    const pair1 = f64x2.splat(error1);
    const pair2 = f64x2.splat(error2);
    const pair3 = f64x2.splat(error3);
    let at: usize = 0;
    for (; at < even; at += PAIR) {
      let sum = plusProduct(v128.load(sums + at), pair0, v128.load(row0 + at));
      sum = plusProduct(sum, pair1, v128.load(row1 + at));
      sum = plusProduct(sum, pair2, v128.load(row2 + at));
      v128.store(sums + at, plusProduct(sum, pair3, v128.load(row3 + at)));
    }
    for (; at < length; at += NUMBER) {
      const sum = load<f64>(sums + at) + error0 * load<f64>(row0 + at) + error1 * load<f64>(row1 + at);
      store<f64>(sums + at, sum + error2 * load<f64>(row2 + at) + error3 * load<f64>(row3 + at));
    }
  }
}

export function addRowsOne(
  rows: usize,
  end: usize,
  features: usize,
  even: usize,
  length: usize,
  sums: usize,
  errors: usize,
  stride: usize,
): void {
  for (; rows < end; rows += WHOLE, errors += stride) {
    const row = rowAt(rows, 0, length, features);
    const error = load<f64>(errors);
    const pair = f64x2.splat(error);
    let at: usize = 0;
    for (; at < even; at += PAIR) {
      v128.store(sums + at, plusProduct(v128.load(sums + at), pair, v128.load(row + at)));
    }
    for (; at < length; at += NUMBER) {
      addNumber(sums + at, error * load<f64>(row + at));
    }
  }
}
