import { BLOCK } from './layout';
import { addNumber, addPair, NUMBER, PAIR, WHOLE } from './shared.as';

/* The loops of `GrowSpace`. A row's gradient and hessian are one pair, so they are added by one instruction. */

function rowAt(rows: usize): usize {
  return load<u32>(rows) as usize;
}

function binAt(bins: usize, row: usize): usize {
  return load<u8>(bins + row) as usize;
}

/** Adds each row's gradient and hessian to its bin of two columns. `gradHess` covers the whole table. */
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

/** The same for one column, and for any number of gradients. `stride`: bytes of its gradients and hessian. */
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

/** Adds a value to one score of each row. `width`: bytes of a row's scores. */
export function addToScores(rows: usize, end: usize, scores: usize, width: usize, value: f64): void {
  for (; rows < end; rows += WHOLE) {
    addNumber(scores + rowAt(rows) * width, value);
  }
}

/** The largest absolute value of all rows' pairs; NaN if one is not finite. */
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

/** Rounds the pair of each row by adding and subtracting a number. */
export function roundToGrid(rows: usize, end: usize, gradHess: usize, grid: f64): void {
  const grids = f64x2.splat(grid);
  for (; rows < end; rows += WHOLE) {
    const at = gradHess + rowAt(rows) * PAIR;
    v128.store(at, f64x2.sub(f64x2.add(v128.load(at), grids), grids));
  }
}

/** Adds each row's pair to one pair of sums. */
export function addAll(rows: usize, end: usize, gradHess: usize, sums: usize): void {
  let sum = f64x2.splat(0);
  for (; rows < end; rows += WHOLE) {
    sum = f64x2.add(sum, v128.load(gradHess + rowAt(rows) * PAIR));
  }
  addPair(sums, sum);
}

/** Subtracts pairs from those at `sums … end`. */
export function takeAway(sums: usize, end: usize, others: usize): void {
  for (; sums < end; sums += PAIR, others += PAIR) {
    v128.store(sums, f64x2.sub(v128.load(sums), v128.load(others)));
  }
}

/**
 * Stable partition of rows: those that go left first.
 *
 * @param bins the bin of every row of the table
 * @param goesLeft per bin, 1 if it goes left, else 0
 * @param spare for as many rows
 * @returns the address where the rows that go right begin
 */
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

/**
 * Divides values as `Random.sample` chooses from them: those chosen, and the others, both in their order.
 *
 * @param state as `Random.lend` lends it
 * @param count of the values; `wanted` of them are chosen
 */
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

/* The loops of `NodeRows`: sixteen columns of a row are one vector of bins. */

const ROW: usize = 4;

/** The bins of the row whose number is at `list`. */
function binsAt(list: usize, block: usize, stride: usize): v128 {
  return v128.load(block + load<u32>(list) * stride);
}

/**
 * The lowest and the highest bin of sixteen columns.
 *
 * @param block the sixteen columns of the first row of the table; `stride` leads to the next row
 * @param out receives sixteen lowest bins less one, so that missing values (bin 0) come last; then sixteen highest
 *   bins; then sixteen lowest ones
 */
export function findRange(list: usize, end: usize, block: usize, stride: usize, out: usize): void {
  const ones = i8x16.splat(1);
  let low = i8x16.splat(-1);
  let lowest = i8x16.splat(-1);
  let high = i8x16.splat(0);
  for (; list < end; list += ROW) {
    const bins = binsAt(list, block, stride);
    low = i8x16.min_u(low, i8x16.sub(bins, ones));
    high = i8x16.max_u(high, bins);
    lowest = i8x16.min_u(lowest, bins);
  }
  v128.store(out, low);
  v128.store(out, high, BLOCK);
  v128.store(out, lowest, 2 * BLOCK);
}

/** Per byte, all bits set where a row goes left: its bin, less the split's first bin, is at most the last less the first. */
function findSides(bins: v128, places: v128, firsts: v128, lasts: v128): v128 {
  const above = i8x16.sub(i8x16.swizzle(bins, places), firsts);
  return i8x16.eq(i8x16.min_u(above, lasts), above);
}

/**
 * Counts the rows of each class that go left, by up to sixteen splits at once.
 *
 * @param end at most `MOST_COUNTED` rows behind `list`
 * @param splits sixteen columns within the block, sixteen first bins that go left, sixteen last ones less the first
 * @param codes a byte per row of the table
 * @param out up to `outEnd`: per class, sixteen counts
 */
export function countClasses(
  list: usize,
  end: usize,
  block: usize,
  stride: usize,
  splits: usize,
  codes: usize,
  out: usize,
  outEnd: usize,
): void {
  memory.fill(out, 0, outEnd - out);
  const places = v128.load(splits);
  const firsts = v128.load(splits, BLOCK);
  const lasts = v128.load(splits, 2 * BLOCK);
  for (; list < end; list += ROW) {
    const to = out + (load<u8>(codes + load<u32>(list)) as usize) * BLOCK;
    // A side is -1 or 0.
    v128.store(to, i8x16.sub(v128.load(to), findSides(binsAt(list, block, stride), places, firsts, lasts)));
  }
}

/**
 * Adds up the values of the rows that go left, by up to eight splits at once, and counts these rows.
 *
 * @param end at most `MOST_COUNTED` rows behind `list`
 * @param splits as of `countClasses`
 * @param values a number per row of the table
 * @param out eight sums, which are added to; then sixteen counts, which are overwritten
 */
export function sumValues(
  list: usize,
  end: usize,
  block: usize,
  stride: usize,
  splits: usize,
  values: usize,
  out: usize,
): void {
  const places = v128.load(splits);
  const firsts = v128.load(splits, BLOCK);
  const lasts = v128.load(splits, 2 * BLOCK);
  let counts = i8x16.splat(0);
  let sums01 = v128.load(out);
  let sums23 = v128.load(out, PAIR);
  let sums45 = v128.load(out, 2 * PAIR);
  let sums67 = v128.load(out, 3 * PAIR);
  for (; list < end; list += ROW) {
    const side = findSides(binsAt(list, block, stride), places, firsts, lasts);
    counts = i8x16.sub(counts, side);
    const value = v128.load64_splat(values + load<u32>(list) * 8);
    // The sides of two splits as masks of two numbers.
    const mask01 = i8x16.shuffle(side, side, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const mask23 = i8x16.shuffle(side, side, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const mask45 = i8x16.shuffle(side, side, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5);
    const mask67 = i8x16.shuffle(side, side, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7);
    sums01 = f64x2.add(sums01, v128.and(value, mask01));
    sums23 = f64x2.add(sums23, v128.and(value, mask23));
    sums45 = f64x2.add(sums45, v128.and(value, mask45));
    sums67 = f64x2.add(sums67, v128.and(value, mask67));
  }
  v128.store(out, sums01);
  v128.store(out, sums23, PAIR);
  v128.store(out, sums45, 2 * PAIR);
  v128.store(out, sums67, 3 * PAIR);
  v128.store(out, counts, 4 * PAIR);
}

/**
 * Moves the rows of a node that go left before the others; both keep their order.
 *
 * @param spare for as many rows
 * @param column the bin of the first row of the table
 * @param bins how many go left, from `first` on
 * @returns the address behind the last row that went left
 */
export function divideNode(
  list: usize,
  end: usize,
  spare: usize,
  column: usize,
  stride: usize,
  first: u32,
  bins: u32,
): usize {
  let left = list;
  let right = spare;
  for (; list < end; list += ROW) {
    const row = load<u32>(list);
    // Every row is written to both sides and counted on one: a branch would be mispredicted.
    store<u32>(left, row);
    store<u32>(right, row);
    const bin = load<u8>(column + row * stride) as u32;
    const step = usize(((bin - first) & 0xff) < bins) * ROW;
    left += step;
    right += ROW - step;
  }
  memory.copy(left, spare, right - spare);
  return left;
}

/* Splits by sets of categories, a bit per bin: a column at a time. */

function readBin(list: usize, column: usize, stride: usize): usize {
  return load<u8>(column + load<u32>(list) * stride) as usize;
}

/** 1 if a bin is in the set, else 0. */
function isIn(set: usize, bin: usize): u32 {
  return (load<u32>(set + (bin >> 5) * WHOLE) >> (bin & 31)) & 1;
}

/**
 * Which categories the rows of a node have, and their number.
 *
 * @param marks 256 bytes to work in
 * @param seen receives a set: a bit per bin
 */
export function seenBins(
  list: usize,
  end: usize,
  column: usize,
  stride: usize,
  marks: usize,
  seen: usize,
): u32 {
  memory.fill(marks, 0, 256);
  for (; list < end; list += ROW) {
    store<u8>(marks + readBin(list, column, stride), 0xff);
  }
  let count = 0;
  for (let at: usize = 0; at < 256; at += BLOCK, seen += 2) {
    const bits = i8x16.bitmask(v128.load(marks + at));
    store<u16>(seen, bits as u16);
    count += popcnt(bits);
  }
  return count;
}

/**
 * Adds up the values of the rows whose category is in a set, and returns their number. `out` is overwritten.
 *
 * @param column the bin of the first row of the table; `stride` leads to the next row
 * @param values a number per row of the table
 */
export function sumOfSet(
  list: usize,
  end: usize,
  column: usize,
  stride: usize,
  set: usize,
  values: usize,
  out: usize,
): u32 {
  let count = 0;
  let sum: f64 = 0;
  for (; list < end; list += ROW) {
    const is = isIn(set, readBin(list, column, stride));
    count += is;
    sum += f64(is) * load<f64>(values + load<u32>(list) * NUMBER);
  }
  store<f64>(out, sum);
  return count;
}

/**
 * Adds the rows of each class whose category is in a set to numbers at `out`, and returns how many there are.
 *
 * @param column as of `sumOfSet`
 * @param codes a byte per row of the table
 */
export function countOfSet(
  list: usize,
  end: usize,
  column: usize,
  stride: usize,
  set: usize,
  codes: usize,
  out: usize,
): u32 {
  let count = 0;
  for (; list < end; list += ROW) {
    const is = isIn(set, readBin(list, column, stride));
    count += is;
    addNumber(out + (load<u8>(codes + load<u32>(list)) as usize) * NUMBER, f64(is));
  }
  return count;
}

/** As `divideNode`, of the categories of a set. */
export function divideBySet(
  list: usize,
  end: usize,
  spare: usize,
  column: usize,
  stride: usize,
  set: usize,
): usize {
  let left = list;
  let right = spare;
  for (; list < end; list += ROW) {
    const row = load<u32>(list);
    store<u32>(left, row);
    store<u32>(right, row);
    const step = (isIn(set, load<u8>(column + row * stride) as usize) as usize) * ROW;
    left += step;
    right += ROW - step;
  }
  memory.copy(left, spare, right - spare);
  return left;
}
