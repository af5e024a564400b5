import {
  BRANCH_BYTES,
  BRANCH_COLUMN,
  BRANCH_FROM,
  BRANCH_IS_SET,
  BRANCH_LIMIT,
  BRANCH_PLACE,
  BRANCH_SET,
  BRANCH_TO_LEFT,
  BRANCH_TO_RIGHT,
  CHANGE_BYTES,
  CHANGE_LEAF_BITS,
  HEADER_BRANCHES,
  HEADER_BRANCHES_END,
  HEADER_BYTES,
  HEADER_EFFECTS,
  HEADER_FLIPS,
  HEADER_GROUPS,
  HEADER_KEYS,
  HEADER_LEAVES,
  HEADER_LEAVES_END,
  HEADER_MIXTURE_BYTES,
  HEADER_OUTPUT,
  HEADER_PERMUTATION_BYTES,
  HEADER_PLACES,
  HEADER_ROW_BYTES,
  LEAF_RECORD_BYTES,
  LEAF_SLOTS_END,
  LEAF_VALUE,
  MAX_SLOTS,
  PLACE_BITS,
  RESULT_EFFECTS,
  RESULT_SIZE,
  SCRATCH_INSIDE,
  SCRATCH_NEXT_RESULT,
  SCRATCH_OUTSIDE,
  SCRATCH_OWN,
  SCRATCH_RESULTS_END,
  SCRATCH_ROWS_FAILING,
  SCRATCH_SHAPLEY_WEIGHTS,
  SCRATCH_VALUES,
  SLOT_BYTES,
  SLOT_PASSES,
  SLOT_PLACE,
  WEIGHTS_ROW,
} from './layout';
import { addNumber, addPair, NUMBER, PAIR, WHOLE } from './shared.as';

/*
 * Shapley values of the trees in leaf blocks, changes of their scores along permutations, and scores of coalitions. With one
 * value per leaf, the first two depend only on the side that the foreground row takes at each branch: its key. So this result
 * of a block is written down first (effects per place, then changes along permutations), cached for all rows with that key
 * while there is space, and then added. Blocks without keys, whose results would not be reused, add their changes directly.
 */

const FLIP_BYTES: usize = 8;
const LAST_LEAF: usize = 31;

const PLACE: u32 = 0xff;
const CHANGE_LEAF: u32 = 0x3f;

/** Whether a row goes left at a branch: 1 or 0. */
function isToLeft(branch: usize, bins: usize): u32 {
  const bin = load<u8>(bins + load<u32>(branch, BRANCH_COLUMN)) as u32;
  if (load<u8>(branch, BRANCH_IS_SET)) {
    return (load<u32>(load<u32>(branch, BRANCH_SET) + ((bin >> 5) << 2)) >> bin) & 1;
  }
  return u32(((bin - load<u8>(branch, BRANCH_FROM)) & 0xff) < (load<u8>(branch, BRANCH_LIMIT) as u32));
}

/**
 * Writes, per place, the leaves whose slot the foreground row passes, as bits. Leaves without a slot for the place count as
 * passed.
 */
export function findPasses(header: usize, bins: usize): void {
  memory.fill(SCRATCH_OWN, 0xff, load<u32>(header, HEADER_PLACES) * WHOLE);
  const end = load<u32>(header, HEADER_BRANCHES_END);
  for (let at = load<u32>(header, HEADER_BRANCHES); at < end; at += BRANCH_BYTES) {
    const own = SCRATCH_OWN + (load<u8>(at, BRANCH_PLACE) as usize) * WHOLE;
    const others = select<u32>(
      load<u32>(at, BRANCH_TO_RIGHT),
      load<u32>(at, BRANCH_TO_LEFT),
      isToLeft(at, bins) != 0,
    );
    store<u32>(own, load<u32>(own) & ~others);
  }
}

/** Writes the values of leaves in reverse, so that they are found by the leading zeros of a leaf's bit. */
function takeValues(header: usize, weight: f64): void {
  const end = load<u32>(header, HEADER_LEAVES_END);
  let to: usize = SCRATCH_VALUES + LAST_LEAF * NUMBER;
  for (let leaf = load<u32>(header, HEADER_LEAVES); leaf < end; leaf += LEAF_RECORD_BYTES, to -= NUMBER) {
    store<f64>(to, weight * (load<f32>(leaf, LEAF_VALUE) as f64));
  }
}

function valueOf(leaf: u32): f64 {
  return load<f64>(leaf << 3, SCRATCH_VALUES);
}

class Steps {
  /**
   * Visits each flip after the first of a permutation, for the background `rows`.
   *
   * @param isWritten writes the changes down from `to` on, instead of adding them to the scores there
   * @returns the end of what was written
   */
  @inline
  static take(isWritten: bool, header: usize, rows: u32, to: usize): usize {
    const rowBytes = load<u32>(header, HEADER_ROW_BYTES);
    if (!rowBytes) {
      return to;
    }
    const permutationBytes = load<u32>(header, HEADER_PERMUTATION_BYTES);
    const mixtureBytes = load<u32>(header, HEADER_MIXTURE_BYTES);
    for (let row = rows, first = load<u32>(header, HEADER_FLIPS); row; row >>= 1, first += rowBytes) {
      if (!(row & 1)) {
        continue;
      }
      const last = first + rowBytes;
      for (let at = first; at < last;) {
        const end = at + permutationBytes;
        let before = clz<u32>(load<u32>(at, 4));
        let passed: u32 = 0xffffffff;
        for (at += FLIP_BYTES; at < end; at += FLIP_BYTES) {
          const flip = load<u32>(at);
          passed &= load<u32>((flip & PLACE) << 2, SCRATCH_OWN);
          const now = clz<u32>(passed & load<u32>(at, 4));
          // Whether or not the leaf changes: a branch would be mispredicted.
          if (isWritten) {
            const mixture = (flip & ~PLACE) << (2 * CHANGE_LEAF_BITS - PLACE_BITS);
            store<u32>(to, mixture | (before << CHANGE_LEAF_BITS) | now);
            to += usize(before != now) * CHANGE_BYTES;
          } else {
            addNumber(to + (flip >> PLACE_BITS) * mixtureBytes, valueOf(now) - valueOf(before));
          }
          before = now;
        }
      }
    }
    return to;
  }
}

/** Adds the changes from `at` to `end` to the scores. */
function addChanges(header: usize, at: usize, end: usize, scores: usize): void {
  const mixtureBytes = load<u32>(header, HEADER_MIXTURE_BYTES);
  for (; at < end; at += CHANGE_BYTES) {
    const change = load<u32>(at);
    addNumber(
      scores + (change >> (2 * CHANGE_LEAF_BITS)) * mixtureBytes,
      valueOf(change & CHANGE_LEAF) - valueOf((change >> CHANGE_LEAF_BITS) & CHANGE_LEAF),
    );
  }
}

/** Loops over adjacent numbers, one per class. */
class Classes {
  @inline
  static addChange(to: usize, now: usize, before: usize, width: usize): void {
    const end = to + (width & -PAIR);
    for (; to < end; to += PAIR, now += PAIR, before += PAIR) {
      addPair(to, f64x2.sub(v128.load(now), v128.load(before)));
    }
    if (width & NUMBER) {
      addNumber(to, load<f64>(now) - load<f64>(before));
    }
  }

  /** @param isAdded adds the share, else takes it away */
  @inline
  static addShare(isAdded: bool, to: usize, from: usize, share: f64, width: usize): void {
    const shares = f64x2.splat(share);
    const end = to + (width & -PAIR);
    for (; to < end; to += PAIR, from += PAIR) {
      const own = f64x2.mul(v128.load(from), shares);
      v128.store(to, isAdded ? f64x2.add(v128.load(to), own) : f64x2.sub(v128.load(to), own));
    }
    if (width & NUMBER) {
      const own = load<f64>(from) * share;
      store<f64>(to, isAdded ? load<f64>(to) + own : load<f64>(to) - own);
    }
  }
}

/** Of the leaf in hand: the ends of its slots passed and failed, and the background rows that pass all of the latter. */
export let insideEnd: usize = 0;
export let outsideEnd: usize = 0;
export let reaching: u32 = 0;

export class Slots {
  /**
   * Divides the slots of a leaf by whether the foreground row passes them.
   *
   * @param slots the first; the end is told by the leaf
   * @param leaf the leaf with this bit
   * @param from what is written of a slot: `from` and its group times `size`; or its place alone, times `size`
   * @returns the end of the slots
   */
  @inline
  static divide(
    isByPlace: bool,
    slots: usize,
    leaf: usize,
    bit: u32,
    rows: u32,
    groups: usize,
    from: usize,
    size: usize,
  ): usize {
    let inside: usize = SCRATCH_INSIDE;
    let outside: usize = SCRATCH_OUTSIDE;
    let mask = rows;
    const end: usize = load<u32>(leaf, LEAF_SLOTS_END);
    for (; slots < end; slots += SLOT_BYTES) {
      const place = (load<u8>(slots, SLOT_PLACE) as u32) << 2;
      const isPassed = (load<u32>(place, SCRATCH_OWN) >> bit) & 1;
      const passing = load<u32>(slots, SLOT_PASSES);
      const told = isByPlace ? place << 1 : from + load<u32>(groups + place) * size;
      // Every slot is written to both lists, but only one of them advances: a branch would be mispredicted.
      store<u32>(inside, ~passing);
      store<u32>(inside, told, 4);
      inside += isPassed << 3;
      store<u32>(outside, told);
      outside += (1 - isPassed) << 2;
      mask &= passing | (0 - isPassed);
    }
    insideEnd = inside;
    outsideEnd = outside;
    reaching = mask;
    return end;
  }
}

class Effects {
  /** Sums Shapley weights times the number of `rows` that fail as many slots, from those at `failing` on. */
  @inline
  static weigh(share: usize, step: usize, failing: usize, most: usize, rows: u32): f64 {
    let sum: f64 = 0;
    for (; failing <= most; failing += WHOLE, share += step) {
      const count = popcnt<u32>(rows & load<u32>(failing));
      sum += load<f64>(share, SCRATCH_SHAPLEY_WEIGHTS) * (count as f64);
    }
    return sum;
  }

  /**
   * Adds the Shapley values of a block for the background `rows`: per place or, for classes, per group.
   *
   * @param values of leaves of classes, in reverse, of `width` bytes each
   */
  @inline
  static add(isOfClasses: bool, header: usize, rows: u32, effects: usize, values: usize, width: usize): void {
    const leavesEnd = load<u32>(header, HEADER_LEAVES_END);
    const groups: usize = load<u32>(header, HEADER_GROUPS);
    let slots: usize = leavesEnd;
    let bit: u32 = 0;
    for (let leaf = load<u32>(header, HEADER_LEAVES); leaf < leavesEnd; leaf += LEAF_RECORD_BYTES, bit++) {
      slots = Slots.divide(!isOfClasses, slots, leaf, bit, rows, groups, 0, width);
      if (!reaching) {
        continue;
      }
      const most = countRows(insideEnd, reaching);
      const failed = (outsideEnd - SCRATCH_OUTSIDE) << 1;
      const from = values + (LAST_LEAF - bit) * width;
      const value: f64 = isOfClasses ? 0 : (load<f32>(leaf, LEAF_VALUE) as f64);
      for (let at: usize = SCRATCH_INSIDE; at < insideEnd; at += 8) {
        const some = load<u32>(at);
        if (some) {
          const sum = Effects.weigh(
            failed + WEIGHTS_ROW,
            WEIGHTS_ROW,
            SCRATCH_ROWS_FAILING + WHOLE,
            most,
            some,
          );
          const to = effects + load<u32>(at, 4);
          if (isOfClasses) {
            Classes.addShare(true, to, from, sum, width);
          } else {
            addNumber(to, value * sum);
          }
        }
      }
      if (failed) {
        const sum = Effects.weigh(failed * (MAX_SLOTS + 1), NUMBER, SCRATCH_ROWS_FAILING, most, 0xffffffff);
        for (let at: usize = SCRATCH_OUTSIDE; at < outsideEnd; at += WHOLE) {
          const to = effects + load<u32>(at);
          if (isOfClasses) {
            Classes.addShare(false, to, from, sum, width);
          } else {
            store<f64>(to, load<f64>(to) - value * sum);
          }
        }
      }
    }
  }
}

/** Sorts the rows of `mask` by how many of the slots passed they fail, and returns where the last of these sets is. */
function countRows(insideEnd: usize, mask: u32): usize {
  let most: usize = SCRATCH_ROWS_FAILING;
  store<u32>(most, mask);
  for (let at: usize = SCRATCH_INSIDE; at < insideEnd; at += 8) {
    const some = load<u32>(at) & mask;
    store<u32>(at, some);
    if (some) {
      most += WHOLE;
      store<u32>(most, 0);
      let p = most;
      for (; p > (SCRATCH_ROWS_FAILING as usize); p -= WHOLE) {
        store<u32>(p, (load<u32>(p) & ~some) | (load<u32>(p - WHOLE) & some));
      }
      store<u32>(p, load<u32>(p) & ~some);
    }
  }
  return most;
}

/** Writes the result of a block. */
function writeResult(header: usize, bins: usize, rows: u32, result: usize): void {
  findPasses(header, bins);
  const effects = result + RESULT_EFFECTS;
  const places = load<u32>(header, HEADER_PLACES) * NUMBER;
  memory.fill(effects, 0, places);
  Effects.add(false, header, rows, effects, 0, 0);
  let end = effects + places;
  if (load<u32>(header, HEADER_KEYS)) {
    end = Steps.take(true, header, rows, end);
  }
  store<u32>(result, end - result, RESULT_SIZE);
}

/** Where the address of the row's result is in the table of cached results. */
function keyOf(header: usize, bins: usize): usize {
  let key: u32 = 0;
  let bit: u32 = 2;
  const end = load<u32>(header, HEADER_BRANCHES_END);
  for (let at = load<u32>(header, HEADER_BRANCHES); at < end; at += BRANCH_BYTES, bit++) {
    key |= isToLeft(at, bins) << bit;
  }
  return key + load<u32>(header, HEADER_KEYS);
}

/** Copies a result to the cache, and its address to `key`, if there is space. */
function keep(result: usize, key: usize): void {
  const size = (load<u32>(result, RESULT_SIZE) + 7) & -8;
  const to = load<u32>(SCRATCH_NEXT_RESULT);
  if (size < load<u32>(SCRATCH_RESULTS_END) - to) {
    memory.copy(to, result, size);
    store<u32>(SCRATCH_NEXT_RESULT, to + size);
    store<u32>(key, to);
  }
}

/** Adds a result: the effects of the block's places, times `weight`, and the changes along permutations. */
function addResult(
  header: usize,
  result: usize,
  rows: u32,
  scores: usize,
  effects: usize,
  weight: f64,
): void {
  let at = result + RESULT_EFFECTS;
  let group: usize = load<u32>(header, HEADER_GROUPS);
  const end = group + load<u32>(header, HEADER_PLACES) * WHOLE;
  const effectsAt = effects + load<u32>(header, HEADER_EFFECTS);
  for (; group < end; group += WHOLE, at += NUMBER) {
    addNumber(effectsAt + load<u32>(group) * NUMBER, weight * load<f64>(at));
  }
  if (!load<u32>(header, HEADER_ROW_BYTES)) {
    return;
  }
  takeValues(header, weight);
  const scoresAt = scores + load<u32>(header, HEADER_OUTPUT);
  if (load<u32>(header, HEADER_KEYS)) {
    addChanges(header, at, result + load<u32>(result, RESULT_SIZE), scoresAt);
  } else {
    Steps.take(false, header, rows, scoresAt);
  }
}

export function addBlocks(
  headers: usize,
  end: usize,
  bins: usize,
  rows: u32,
  scores: usize,
  effects: usize,
  scratch: usize,
  isCached: u32,
  weight: f64,
): void {
  for (let header = headers; header < end; header += HEADER_BYTES) {
    const key: usize = isCached && load<u32>(header, HEADER_KEYS) ? keyOf(header, bins) : 0;
    let result: usize = key ? load<u32>(key) : 0;
    if (!result) {
      result = scratch;
      writeResult(header, bins, rows, result);
      if (key) {
        keep(result, key);
      }
    }
    addResult(header, result, rows, scores, effects, weight);
  }
}

function takeValuesOfClasses(header: usize, weight: f64, values: usize, width: usize): void {
  const end = load<u32>(header, HEADER_LEAVES_END);
  let to = values + LAST_LEAF * width;
  for (let leaf = load<u32>(header, HEADER_LEAVES); leaf < end; leaf += LEAF_RECORD_BYTES, to -= width) {
    let from: usize = load<u32>(leaf, LEAF_VALUE);
    for (let k: usize = 0; k < width; k += NUMBER, from += 4) {
      store<f64>(to + k, weight * (load<f32>(from) as f64));
    }
  }
}

/** Adds the changes at the flips of each permutation. */
function addStepsOfClasses(header: usize, rows: u32, scores: usize, values: usize, width: usize): void {
  const rowBytes = load<u32>(header, HEADER_ROW_BYTES);
  if (!rowBytes) {
    return;
  }
  const permutationBytes = load<u32>(header, HEADER_PERMUTATION_BYTES);
  for (let row = rows, first = load<u32>(header, HEADER_FLIPS); row; row >>= 1, first += rowBytes) {
    if (!(row & 1)) {
      continue;
    }
    const last = first + rowBytes;
    for (let at = first; at < last;) {
      const end = at + permutationBytes;
      let before = values + clz<u32>(load<u32>(at, 4)) * width;
      let passed: u32 = 0xffffffff;
      for (at += FLIP_BYTES; at < end; at += FLIP_BYTES) {
        const flip = load<u32>(at);
        passed &= load<u32>((flip & PLACE) << 2, SCRATCH_OWN);
        const now = values + clz<u32>(passed & load<u32>(at, 4)) * width;
        if (now != before) {
          Classes.addChange(scores + (flip >> PLACE_BITS) * width, now, before, width);
          before = now;
        }
      }
    }
  }
}

export function addBlocksOfClasses(
  headers: usize,
  end: usize,
  bins: usize,
  rows: u32,
  scores: usize,
  effects: usize,
  values: usize,
  width: usize,
  weight: f64,
): void {
  for (let header = headers; header < end; header += HEADER_BYTES) {
    findPasses(header, bins);
    takeValuesOfClasses(header, weight, values, width);
    addStepsOfClasses(header, rows, scores, values, width);
    Effects.add(true, header, rows, effects, values, width);
  }
}
