/* The loops of `GrowSpace`. A row's gradient and hessian are one pair, so they are added by one instruction. */
import { addNumber, addPair } from './pairs.as';

const WHOLE: usize = 4;
const NUMBER: usize = 8;
const PAIR: usize = 16;

function rowAt(rows: usize): usize {
  return load<u32>(rows) as usize;
}

function binAt(bins: usize, row: usize): usize {
  return load<u8>(bins + row) as usize;
}

export function addFour(
  rows: usize,
  end: usize,
  gradHess: usize,
  bins0: usize,
  bins1: usize,
  bins2: usize,
  bins3: usize,
  sums0: usize,
  sums1: usize,
  sums2: usize,
  sums3: usize,
): void {
  for (; rows < end; rows += WHOLE) {
    const row = rowAt(rows);
    const pair = v128.load(gradHess + row * PAIR);
    addPair(sums0 + binAt(bins0, row) * PAIR, pair);
    addPair(sums1 + binAt(bins1, row) * PAIR, pair);
    addPair(sums2 + binAt(bins2, row) * PAIR, pair);
    addPair(sums3 + binAt(bins3, row) * PAIR, pair);
  }
}

export function addTwo(
  rows: usize,
  end: usize,
  gradHess: usize,
  bins0: usize,
  bins1: usize,
  sums0: usize,
  sums1: usize,
): void {
  for (; rows < end; rows += WHOLE) {
    const row = rowAt(rows);
    const pair = v128.load(gradHess + row * PAIR);
    addPair(sums0 + binAt(bins0, row) * PAIR, pair);
    addPair(sums1 + binAt(bins1, row) * PAIR, pair);
  }
}

export function addOne(rows: usize, end: usize, gradHess: usize, bins: usize, sums: usize): void {
  for (; rows < end; rows += WHOLE) {
    const row = rowAt(rows);
    addPair(sums + binAt(bins, row) * PAIR, v128.load(gradHess + row * PAIR));
  }
}

function addThree(at: usize, pair: v128, third: f64): void {
  addPair(at, pair);
  store<f64>(at, load<f64>(at, PAIR) + third, PAIR);
}

export function addTwoOfThree(
  rows: usize,
  end: usize,
  gradHess: usize,
  bins0: usize,
  bins1: usize,
  sums0: usize,
  sums1: usize,
): void {
  for (; rows < end; rows += WHOLE) {
    const row = rowAt(rows);
    const from = gradHess + row * (3 * NUMBER);
    const pair = v128.load(from);
    const third = load<f64>(from, PAIR);
    addThree(sums0 + binAt(bins0, row) * (3 * NUMBER), pair, third);
    addThree(sums1 + binAt(bins1, row) * (3 * NUMBER), pair, third);
  }
}

export function addOneOfThree(rows: usize, end: usize, gradHess: usize, bins: usize, sums: usize): void {
  for (; rows < end; rows += WHOLE) {
    const row = rowAt(rows);
    const from = gradHess + row * (3 * NUMBER);
    addThree(sums + binAt(bins, row) * (3 * NUMBER), v128.load(from), load<f64>(from, PAIR));
  }
}

export function addSeveral(
  rows: usize,
  end: usize,
  gradHess: usize,
  bins: usize,
  sums: usize,
  stride: usize,
): void {
  const pairs = stride & -PAIR;
  for (; rows < end; rows += WHOLE) {
    const row = rowAt(rows);
    const from = gradHess + row * stride;
    const to = sums + binAt(bins, row) * stride;
    let at: usize = 0;
    for (; at < pairs; at += PAIR) {
      addPair(to + at, v128.load(from + at));
    }
    if (at < stride) {
      addNumber(to + at, load<f64>(from + at));
    }
  }
}

export function addToScores(rows: usize, end: usize, scores: usize, width: usize, value: f64): void {
  for (; rows < end; rows += WHOLE) {
    addNumber(scores + rowAt(rows) * width, value);
  }
}

export function largest(rows: usize, end: usize, gradHess: usize): f64 {
  let most = f64x2.splat(0);
  let odd = f64x2.splat(0);
  for (; rows < end; rows += WHOLE) {
    const pair = f64x2.abs(v128.load(gradHess + rowAt(rows) * PAIR));
    most = f64x2.pmax(most, pair);
    // 0, or NaN for numbers that are not finite: comparisons alone would skip NaN.
    odd = f64x2.add(odd, f64x2.mul(pair, f64x2.splat(0)));
  }
  most = f64x2.add(most, odd);
  return max<f64>(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1));
}

export function roundToGrid(rows: usize, end: usize, gradHess: usize, grid: f64): void {
  const grids = f64x2.splat(grid);
  for (; rows < end; rows += WHOLE) {
    const at = gradHess + rowAt(rows) * PAIR;
    v128.store(at, f64x2.sub(f64x2.add(v128.load(at), grids), grids));
  }
}

export function addAll(rows: usize, end: usize, gradHess: usize, sums: usize): void {
  let sum = f64x2.splat(0);
  for (; rows < end; rows += WHOLE) {
    sum = f64x2.add(sum, v128.load(gradHess + rowAt(rows) * PAIR));
  }
  addPair(sums, sum);
}

export function takeAway(sums: usize, end: usize, others: usize): void {
  for (; sums < end; sums += PAIR, others += PAIR) {
    v128.store(sums, f64x2.sub(v128.load(sums), v128.load(others)));
  }
}

export function partition(rows: usize, end: usize, bins: usize, goesLeft: usize, spare: usize): usize {
  let left = rows;
  let right = spare;
  for (; rows < end; rows += WHOLE) {
    const row = rowAt(rows);
    // Each row is written to both sides, and one of them advances: a branch would be mispredicted.
    store<u32>(left, row as u32);
    store<u32>(right, row as u32);
    const step = binAt(goesLeft, binAt(bins, row)) * WHOLE;
    left += step;
    right += WHOLE - step;
  }
  memory.copy(left, spare, right - spare);
  return left;
}

export function drawRows(
  state: usize,
  values: usize,
  count: u32,
  wanted: u32,
  chosen: usize,
  rest: usize,
): void {
  let a = load<u32>(state);
  let b = load<u32>(state, 4);
  let c = load<u32>(state, 8);
  let counter = load<u32>(state, 12);
  for (; wanted > 0; count--, values += WHOLE) {
    const sum = a + b + counter;
    counter++;
    a = b ^ (b >> 9);
    b = c + (c << 3);
    c = ((c << 21) | (c >> 11)) + sum;
    const value = load<u32>(values);
    store<u32>(chosen, value);
    store<u32>(rest, value);
    // The drawn number as a fraction of 2^32, times `count`, in integers: each comparison waits for the one before it.
    const isChosen = u32((sum as u64) * (count as u64) < (wanted as u64) << 32);
    chosen += isChosen * WHOLE;
    rest += WHOLE - isChosen * WHOLE;
    wanted -= isChosen;
  }
  store<u32>(state, a);
  store<u32>(state, b, 4);
  store<u32>(state, c, 8);
  store<u32>(state, counter, 12);
  memory.copy(rest, values, count * WHOLE);
}
