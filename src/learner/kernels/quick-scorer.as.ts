import {
  CATEGORIES_BYTES,
  CHUNK_BYTES,
  LEAF_BYTES,
  MAX_LEAVES,
  ORDERED_BYTES,
  PLANE_BYTES,
  SLOTS,
  TILE,
  TreeArray,
  TreesAt,
} from './layout';
import { NUMBER, PAIR } from './shared.as';

/* The loops of `TreeSums`: eight leaves of 64 rows at a time. */

const VECTOR: usize = 16;

/** As in `Trees`. */
const LEAF: u32 = 0xffff;
const MISSING_LEFT: u32 = 1;
const CATEGORY: u32 = 2;

const IN_FOUR_BYTES: u32 = 0x01010101;

function array(offset: usize): usize {
  return load<u32>(TreesAt.TREE_ARRAYS + offset);
}

/**
 * Numbers the leaves of a tree from left to right, writes its program and the table of its leaves, and returns the program's end.
 *
 * @param root index of its first node
 * @param nodes their number
 * @param slot number of its table
 * @param hasOneValue 1 if the table holds the values of leaves; 0 for the addresses of their values per class
 */
export function prepare(root: usize, nodes: usize, slot: usize, hasOneValue: u32): usize {
  const feature = array(TreeArray.FEATURE) + root * 2;
  const bin = array(TreeArray.BIN) + root;
  const flags = array(TreeArray.FLAGS) + root;
  const left = array(TreeArray.LEFT) + root * 4;
  const setAt = array(TreeArray.SET_AT) + root * 4;
  const sets = array(TreeArray.SETS);
  const values = array(TreeArray.VALUES);
  const offsets = array(TreeArray.OFFSETS);
  const highest = array(TreeArray.HIGHEST);
  // Leaves below each node; children follow their parents.
  for (let node = nodes; node !== 0;) {
    node--;
    if (load<u16>(feature + node * 2) == LEAF) {
      store<u8>(node, 1, TreesAt.COUNTS);
    } else {
      const child = load<u32>(left + node * 4) - root;
      store<u8>(node, load<u8>(child, TreesAt.COUNTS) + load<u8>(child, TreesAt.COUNTS + 1), TreesAt.COUNTS);
    }
  }
  store<u8>(0, 0, TreesAt.FIRSTS);
  let ordered: usize = TreesAt.ORDERED;
  let category: usize = TreesAt.CATEGORIES;
  let always: u32 = 0;
  const table = TreesAt.LEAF_TABLES + slot * (MAX_LEAVES * LEAF_BYTES);
  for (let node: usize = 0; node < nodes; node++) {
    const first = load<u8>(node, TreesAt.FIRSTS) as u32;
    const column = load<u16>(feature + node * 2) as u32;
    if (column == LEAF) {
      const valueAt = values + (load<u32>(left + node * 4) << 2);
      const to = table + first * LEAF_BYTES;
      if (hasOneValue) {
        store<f64>(to, load<f32>(valueAt) as f64);
      } else {
        store<u32>(to, valueAt);
      }
      continue;
    }
    const child = load<u32>(left + node * 4) - root;
    const onLeft = load<u8>(child, TreesAt.COUNTS) as u32;
    store<u8>(child, first as u8, TreesAt.FIRSTS);
    store<u8>(child, (first + onLeft) as u8, TreesAt.FIRSTS + 1);
    const mask = (((1 as u32) << onLeft) - 1) << first;
    const flag = load<u8>(flags + node) as u32;
    if (flag & CATEGORY) {
      store<u32>(category, load<u32>(offsets + column * 4));
      store<u32>(category, mask, 4);
      store<u32>(category, sets + load<u32>(setAt + node * 4) * 4, 8);
      store<u32>(category, load<u8>(highest + column) as u32, 12);
      category += CATEGORIES_BYTES;
      continue;
    }
    // Missing values, bin 0, go left by the bins as they are, and right by bins less one.
    const right = (flag & MISSING_LEFT) ^ MISSING_LEFT;
    const border = load<u8>(bin + node) as u32;
    if (border < right) {
      always |= mask;
    } else {
      store<u32>(ordered, load<u32>(offsets + column * 4) + right * TILE);
      store<u32>(ordered, ((border - right) ^ 0x80) * IN_FOUR_BYTES, 4);
      store<u32>(ordered, mask, 8);
      ordered += ORDERED_BYTES;
    }
  }
  return writeProgram(ordered, category, always);
}

/** Writes the program from the branches noted, and returns its end. */
function writeProgram(orderedEnd: usize, categoriesEnd: usize, always: u32): usize {
  let program: usize = TreesAt.PROGRAM;
  const leaves = load<u8>(0, TreesAt.COUNTS) as u32;
  for (let shift: u32 = 0; shift < leaves; shift += 8) {
    const header = program;
    store<u32>(header, ((always >> shift) & 0xff) * IN_FOUR_BYTES);
    program += PLANE_BYTES;
    for (let at: usize = TreesAt.ORDERED; at < orderedEnd; at += ORDERED_BYTES) {
      const mask = (load<u32>(at, 8) >> shift) & 0xff;
      store<u32>(program, load<u32>(at));
      store<u32>(program, load<u32>(at, 4), 4);
      store<u32>(program, mask * IN_FOUR_BYTES, 8);
      program += mask ? ORDERED_BYTES : 0;
    }
    store<u32>(header, program as u32, 4);
    for (let at: usize = TreesAt.CATEGORIES; at < categoriesEnd; at += CATEGORIES_BYTES) {
      const mask = (load<u32>(at, 4) >> shift) & 0xff;
      if (mask) {
        program = writeChunks(program, at, i8x16.splat(mask as i8));
      }
    }
    store<u32>(header, program as u32, 8);
  }
  return program;
}

/** The steps of a branch on categories, for sixteen bins each, where some of them go right. */
function writeChunks(program: usize, branch: usize, mask: v128): usize {
  const set = load<u32>(branch, 8);
  const end = load<u32>(branch, 12) + 1;
  // In the lowest and in the next eight lanes, the two bytes of a number; and per lane its bit of them.
  const halves = i8x16(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const bits = i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
  for (let chunk: u32 = 0; chunk < end; chunk += 16) {
    const others = (load<u16>(set + (chunk >> 3)) as u32) ^ 0xffff;
    if (others) {
      store<u32>(program, load<u32>(branch));
      store<u32>(program, ((chunk + 0x80) & 0xff) * IN_FOUR_BYTES, 4);
      const own = v128.and(i8x16.swizzle(i32x4.splat(others), halves), bits);
      v128.store(program, v128.and(i8x16.eq(own, bits), mask), 8);
      program += CHUNK_BYTES;
    }
  }
  return program;
}

/**
 * The first of eight leaves that is not removed, as an offset in a table of leaves; at least 255 if there is none. `removed`
 * has them as bits: each half of a byte is looked up.
 */
function firstLeft(removed: v128): v128 {
  const nibble = i8x16.splat(0x0f);
  const low = i8x16(0, 8, 0, 16, 0, 8, 0, 24, 0, 8, 0, 16, 0, 8, 0, -1);
  const high = i8x16(32, 40, 32, 48, 32, 40, 32, 56, 32, 40, 32, 48, 32, 40, 32, -1);
  return i8x16.min_u(
    i8x16.swizzle(low, v128.and(removed, nibble)),
    i8x16.swizzle(high, v128.and(i16x8.shr_u(removed, 4), nibble)),
  );
}

/** A branch on an ordered column sends rows of bins above the border right, which removes the leaves of `mask`. */
function removeAbove(removed: v128, bins: v128, border: v128, mask: v128): v128 {
  return v128.or(removed, v128.and(i8x16.gt_s(bins, border), mask));
}

/** The same for a chunk of categories: `table` has the leaves that each of its bins removes. */
function removeOthers(removed: v128, bins: v128, lowest: v128, table: v128): v128 {
  return v128.or(removed, i8x16.swizzle(table, i8x16.sub(bins, lowest)));
}

function firstOfPlane(leaves: v128, removed: v128, bias: v128): v128 {
  return i8x16.min_u(leaves, i8x16.add_sat_u(firstLeft(removed), bias));
}

/**
 * Writes each row's leaf in the prepared tree, as an offset in its table.
 *
 * @param out where the leaves of the first tile go; those of the next one are `SLOTS` × `TILE` further
 */
export function findLeaves(
  tiles: usize,
  tilesEnd: usize,
  tileBytes: usize,
  programEnd: usize,
  out: usize,
): void {
  const planeBytes = i8x16.splat((8 * LEAF_BYTES) as i8);
  for (; tiles < tilesEnd; tiles += tileBytes, out += SLOTS * TILE) {
    let leaves0 = i8x16.splat(-1);
    let leaves1 = leaves0;
    let leaves2 = leaves0;
    let leaves3 = leaves0;
    let bias = i8x16.splat(0);
    let at: usize = TreesAt.PROGRAM;
    while (at < programEnd) {
      let removed0 = v128.load32_splat(at);
      let removed1 = removed0;
      let removed2 = removed0;
      let removed3 = removed0;
      let step = at + PLANE_BYTES;
      for (const end: usize = load<u32>(at, 4); step < end; step += ORDERED_BYTES) {
        const column = tiles + load<u32>(step);
        const border = v128.load32_splat(step, 4);
        const mask = v128.load32_splat(step, 8);
        removed0 = removeAbove(removed0, v128.load(column), border, mask);
        removed1 = removeAbove(removed1, v128.load(column, VECTOR), border, mask);
        removed2 = removeAbove(removed2, v128.load(column, 2 * VECTOR), border, mask);
        removed3 = removeAbove(removed3, v128.load(column, 3 * VECTOR), border, mask);
      }
      for (const end: usize = load<u32>(at, 8); step < end; step += CHUNK_BYTES) {
        const column = tiles + load<u32>(step);
        const lowest = v128.load32_splat(step, 4);
        const table = v128.load(step, 8);
        removed0 = removeOthers(removed0, v128.load(column), lowest, table);
        removed1 = removeOthers(removed1, v128.load(column, VECTOR), lowest, table);
        removed2 = removeOthers(removed2, v128.load(column, 2 * VECTOR), lowest, table);
        removed3 = removeOthers(removed3, v128.load(column, 3 * VECTOR), lowest, table);
      }
      leaves0 = firstOfPlane(leaves0, removed0, bias);
      leaves1 = firstOfPlane(leaves1, removed1, bias);
      leaves2 = firstOfPlane(leaves2, removed2, bias);
      leaves3 = firstOfPlane(leaves3, removed3, bias);
      bias = i8x16.add_sat_u(bias, planeBytes);
      at = step;
    }
    v128.store(out, leaves0);
    v128.store(out, leaves1, VECTOR);
    v128.store(out, leaves2, 2 * VECTOR);
    v128.store(out, leaves3, 3 * VECTOR);
  }
}

/** The value of a row's leaf in a tree, by its slot from the first one on. */
function readValue(leaves: usize, table: usize, slot: usize): f64 {
  return load<f64>(table + slot * (MAX_LEAVES * LEAF_BYTES) + load<u8>(leaves + slot * TILE));
}

class Values {
  /** @param trees 1, 4 or 16 */
  @inline
  static add(trees: i32, leaves: usize, sums: usize, sumsEnd: usize, table: usize): void {
    for (; sums < sumsEnd; leaves += (SLOTS - 1) * TILE) {
      const tileEnd = leaves + TILE;
      for (; leaves < tileEnd; leaves++, sums += NUMBER) {
        let sum = load<f64>(sums) + readValue(leaves, table, 0);
        if (trees > 1) {
          sum = sum + readValue(leaves, table, 1) + readValue(leaves, table, 2) + readValue(leaves, table, 3);
        }
        if (trees > 4) {
          sum = sum + readValue(leaves, table, 4) + readValue(leaves, table, 5) + readValue(leaves, table, 6);
          sum = sum + readValue(leaves, table, 7) + readValue(leaves, table, 8) + readValue(leaves, table, 9);
          sum =
            sum + readValue(leaves, table, 10) + readValue(leaves, table, 11) + readValue(leaves, table, 12);
          sum =
            sum + readValue(leaves, table, 13) + readValue(leaves, table, 14) + readValue(leaves, table, 15);
        }
        store<f64>(sums, sum);
      }
    }
  }
}

/**
 * Adds the values of each row's leaves in so many trees, one after the other.
 *
 * @param leaves of the first of the trees
 * @param table of its leaves
 */
export function addValues1(leaves: usize, sums: usize, sumsEnd: usize, table: usize): void {
  Values.add(1, leaves, sums, sumsEnd, table);
}

export function addValues4(leaves: usize, sums: usize, sumsEnd: usize, table: usize): void {
  Values.add(4, leaves, sums, sumsEnd, table);
}

export function addValues16(leaves: usize, sums: usize, sumsEnd: usize, table: usize): void {
  Values.add(16, leaves, sums, sumsEnd, table);
}

/*
 * Sums per class, of many rows: those of up to seventeen classes stay in registers while trees or terms are visited, and
 * more classes take several passes.
 */

const FLOAT: usize = 4;
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
      let table: usize = kind == TREES ? TreesAt.LEAF_TABLES : values;
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
      // Loops of their own, as their sums stay in registers.
      const own = 2 * count + isOdd;
      if (own == 2) Sums.pass(kind, 1, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 3) Sums.pass(kind, 1, true, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 4) Sums.pass(kind, 2, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 5) Sums.pass(kind, 2, true, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 6) Sums.pass(kind, 3, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 7) Sums.pass(kind, 3, true, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 8) Sums.pass(kind, 4, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 9) Sums.pass(kind, 4, true, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 10) Sums.pass(kind, 5, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 11) Sums.pass(kind, 5, true, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 12) Sums.pass(kind, 6, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 13) Sums.pass(kind, 6, true, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 14) Sums.pass(kind, 7, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 15) Sums.pass(kind, 7, true, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 16) Sums.pass(kind, 8, false, lists, bytes, stride, rows, values, scores, first, classes);
      if (own == 17) Sums.pass(kind, 8, true, lists, bytes, stride, rows, values, scores, first, classes);
    }
  }
}

/**
 * Adds the values of each row's leaves, one tree after the other.
 *
 * @param leaves trees × rows: where a leaf's values begin, in elements
 * @param rows bytes of the leaves of a tree
 * @param classes their number
 */
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

/**
 * Adds a factor of each row times the weights of a term, one term after the other.
 *
 * @param factors terms × rows
 * @param rows bytes of the factors of a term
 * @param weights terms × classes
 * @param classes their number
 */
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

/**
 * Adds the values of each row's leaves as `findLeaves` wrote them, one tree after the other.
 *
 * @param bytes of a tile's leaves in all of the trees
 * @param classes their number
 */
export function addTrees(leaves: usize, bytes: usize, scores: usize, scoresEnd: usize, classes: usize): void {
  for (; scores < scoresEnd; scores += TILE * classes * NUMBER, leaves += SLOTS * TILE) {
    Sums.add(TREES, leaves, bytes, TILE, TILE, 0, scores, classes);
  }
}
