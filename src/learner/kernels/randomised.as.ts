/* The loops of `NodeRows`: sixteen columns of a row are one vector of bins. */
import { BLOCK } from './layout';

const ROW: usize = 4;
const PAIR: usize = 16;

/** The bins of the row whose number is at `list`. */
function binsAt(list: usize, block: usize, stride: usize): v128 {
  return v128.load(block + load<u32>(list) * stride);
}

export function rangeOf(list: usize, end: usize, block: usize, stride: usize, out: usize): void {
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
function sidesOf(bins: v128, places: v128, firsts: v128, lasts: v128): v128 {
  const above = i8x16.sub(i8x16.swizzle(bins, places), firsts);
  return i8x16.eq(i8x16.min_u(above, lasts), above);
}

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
    v128.store(to, i8x16.sub(v128.load(to), sidesOf(binsAt(list, block, stride), places, firsts, lasts)));
  }
}

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
    const side = sidesOf(binsAt(list, block, stride), places, firsts, lasts);
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
