/*
 * Sums per class, of many rows: those of up to seventeen classes stay in registers while trees or terms are visited, and
 * more classes take several passes.
 */
import { LEAF_BYTES, LEAF_TABLES, MAX_LEAVES, SLOTS, TILE } from './quick-scorer-layout';

const FLOAT: usize = 4;
const NUMBER: usize = 8;
const PAIR: usize = 16;
const MAX_PAIRS = 8;

/** What is added: values of leaves by their index, values of leaves by their place in a table, or terms times a factor. */
const LEAVES = 0;
const TREES = 1;
const TERMS = 2;

class Sums {
  /** What `from` holds for a pair of classes; `factor` counts for terms alone. */
  @inline
  static more(kind: i32, sums: v128, from: usize, pair: i32, factor: v128): v128 {
    if (kind == TERMS) {
      return f64x2.add(sums, f64x2.mul(factor, v128.load(from + pair * PAIR)));
    }
    return f64x2.add(sums, f64x2.promote_low_f32x4(v128.load64_zero(from + pair * 2 * FLOAT)));
  }

  /**
   * Adds to `pairs` pairs of classes, and to a single one behind them if `isOdd`, of some rows.
   *
   * @param lists of the first row: one entry per tree or term, `stride` apart, `bytes` in all
   * @param rows their number
   * @param first of these classes
   */
  @inline
  static pass(
    kind: i32,
    pairs: i32,
    isOdd: bool,
    lists: usize,
    bytes: usize,
    stride: usize,
    rows: usize,
    values: usize,
    scores: usize,
    first: usize,
    classes: usize,
  ): void {
    const offset = first * (kind == TERMS ? NUMBER : FLOAT);
    const entryBytes: usize = kind == TREES ? 1 : kind == LEAVES ? 4 : NUMBER;
    let to = scores + first * NUMBER;
    for (let row: usize = 0; row < rows; row++, lists += entryBytes, to += classes * NUMBER) {
      let sums0 = v128.load(to);
      let sums1 = pairs > 1 ? v128.load(to, PAIR) : sums0;
      let sums2 = pairs > 2 ? v128.load(to, 2 * PAIR) : sums0;
      let sums3 = pairs > 3 ? v128.load(to, 3 * PAIR) : sums0;
      let sums4 = pairs > 4 ? v128.load(to, 4 * PAIR) : sums0;
      let sums5 = pairs > 5 ? v128.load(to, 5 * PAIR) : sums0;
      let sums6 = pairs > 6 ? v128.load(to, 6 * PAIR) : sums0;
      let sums7 = pairs > 7 ? v128.load(to, 7 * PAIR) : sums0;
      let one: f64 = isOdd ? load<f64>(to + pairs * PAIR) : 0;
      let table: usize = kind == TREES ? LEAF_TABLES : values;
      const end = lists + bytes;
      for (let at = lists; at < end; at += stride) {
        let from: usize;
        let factor = sums0;
        if (kind == TREES) {
          from = load<u32>(table + load<u8>(at)) + offset;
          table += MAX_LEAVES * LEAF_BYTES;
        } else if (kind == LEAVES) {
          from = values + (load<u32>(at) << 2) + offset;
        } else {
          from = table + offset;
          factor = v128.load64_splat(at);
          table += classes * NUMBER;
        }
        sums0 = Sums.more(kind, sums0, from, 0, factor);
        if (pairs > 1) sums1 = Sums.more(kind, sums1, from, 1, factor);
        if (pairs > 2) sums2 = Sums.more(kind, sums2, from, 2, factor);
        if (pairs > 3) sums3 = Sums.more(kind, sums3, from, 3, factor);
        if (pairs > 4) sums4 = Sums.more(kind, sums4, from, 4, factor);
        if (pairs > 5) sums5 = Sums.more(kind, sums5, from, 5, factor);
        if (pairs > 6) sums6 = Sums.more(kind, sums6, from, 6, factor);
        if (pairs > 7) sums7 = Sums.more(kind, sums7, from, 7, factor);
        if (isOdd) {
          one +=
            kind == TERMS
              ? f64x2.extract_lane(factor, 0) * load<f64>(from + pairs * PAIR)
              : (load<f32>(from + pairs * 2 * FLOAT) as f64);
        }
      }
      v128.store(to, sums0);
      if (pairs > 1) v128.store(to, sums1, PAIR);
      if (pairs > 2) v128.store(to, sums2, 2 * PAIR);
      if (pairs > 3) v128.store(to, sums3, 3 * PAIR);
      if (pairs > 4) v128.store(to, sums4, 4 * PAIR);
      if (pairs > 5) v128.store(to, sums5, 5 * PAIR);
      if (pairs > 6) v128.store(to, sums6, 6 * PAIR);
      if (pairs > 7) v128.store(to, sums7, 7 * PAIR);
      if (isOdd) store<f64>(to + pairs * PAIR, one);
    }
  }

  /** All classes, at least two, in as few passes as registers allow. */
  @inline
  static add(
    kind: i32,
    lists: usize,
    bytes: usize,
    stride: usize,
    rows: usize,
    values: usize,
    scores: usize,
    classes: usize,
  ): void {
    const pairs = (classes as i32) >> 1;
    const passes = (pairs + MAX_PAIRS - 1) / MAX_PAIRS;
    for (let pass = 0, done = 0; pass < passes; pass++) {
      const count = ((pass + 1) * pairs) / passes - done;
      const isOdd = pass == passes - 1 ? (classes as i32) & 1 : 0;
      const first = 2 * done;
      done += count;
      switch (2 * count + isOdd) {
        case 2:
          Sums.pass(kind, 1, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 3:
          Sums.pass(kind, 1, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 4:
          Sums.pass(kind, 2, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 5:
          Sums.pass(kind, 2, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 6:
          Sums.pass(kind, 3, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 7:
          Sums.pass(kind, 3, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 8:
          Sums.pass(kind, 4, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 9:
          Sums.pass(kind, 4, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 10:
          Sums.pass(kind, 5, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 11:
          Sums.pass(kind, 5, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 12:
          Sums.pass(kind, 6, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 13:
          Sums.pass(kind, 6, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 14:
          Sums.pass(kind, 7, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 15:
          Sums.pass(kind, 7, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 16:
          Sums.pass(kind, 8, false, lists, bytes, stride, rows, values, scores, first, classes);
          break;
        case 17:
          Sums.pass(kind, 8, true, lists, bytes, stride, rows, values, scores, first, classes);
          break;
      }
    }
  }
}

export function addLeaves(
  leaves: usize,
  leavesEnd: usize,
  rows: usize,
  values: usize,
  scores: usize,
  classes: usize,
): void {
  Sums.add(LEAVES, leaves, leavesEnd - leaves, rows, rows / 4, values, scores, classes);
}

export function addTerms(
  factors: usize,
  factorsEnd: usize,
  rows: usize,
  weights: usize,
  scores: usize,
  classes: usize,
): void {
  Sums.add(TERMS, factors, factorsEnd - factors, rows, rows / NUMBER, weights, scores, classes);
}

export function addTrees(leaves: usize, bytes: usize, scores: usize, scoresEnd: usize, classes: usize): void {
  for (; scores < scoresEnd; scores += TILE * classes * NUMBER, leaves += SLOTS * TILE) {
    Sums.add(TREES, leaves, bytes, TILE, TILE, 0, scores, classes);
  }
}
