import {
  BlocksAt,
  Branch,
  LeafChange,
  FLIP_BYTES,
  GROUP_BITS,
  BlockHeader,
  MAX_SLOTS,
  PLACE_BITS,
  BlockResult,
  Slot,
  WEIGHTS_ROW,
} from './layout';
import { addNumber, addPair, NUMBER, PAIR, WHOLE } from './shared.as';

/*
 * Shapley values of the trees in leaf blocks, changes of their scores along permutations, and scores of coalitions. The first
 * two depend only on the side that the foreground row takes at each branch: its key. So this result of a block is written down
 * first (effects per place, then changes along permutations), cached for all rows with that key while there is space, and then
 * added. Blocks without keys, whose results would not be reused, add their changes directly.
 */

const LAST_LEAF: usize = 31;

const PLACE: u32 = 0xff;
const CHANGE_LEAF: u32 = 0x3f;

/** What an offset in a header leads to. */
function part(header: usize, offset: usize): usize {
  return header + load<u32>(header + offset);
}

/** Whether a row goes left at a branch: 1 or 0. */
function isToLeft(header: usize, branch: usize, bins: usize): u32 {
  const bin = load<u8>(bins + load<u32>(branch, Branch.COLUMN)) as u32;
  if (load<u8>(branch, Branch.IS_SET)) {
    return (load<u32>(header + load<u32>(branch, Branch.SET) + ((bin >> 5) << 2)) >> bin) & 1;
  }
  return u32(((bin - load<u8>(branch, Branch.FROM)) & 0xff) < (load<u8>(branch, Branch.LIMIT) as u32));
}

/**
 * Writes, per place, the leaves whose slot the foreground row passes, as bits. Leaves without a slot for the place count as
 * passed.
 */
function findPasses(header: usize, bins: usize): void {
  memory.fill(BlocksAt.OWN, 0xff, load<u32>(header, BlockHeader.PLACES) * WHOLE);
  const end = part(header, BlockHeader.LEAVES);
  for (let at = part(header, BlockHeader.BRANCHES); at < end; at += Branch.BYTES) {
    const own = BlocksAt.OWN + (load<u8>(at, Branch.PLACE) as usize) * WHOLE;
    const others = select<u32>(
      load<u32>(at, Branch.TO_RIGHT),
      load<u32>(at, Branch.TO_LEFT),
      isToLeft(header, at, bins) != 0,
    );
    store<u32>(own, load<u32>(own) & ~others);
  }
}

/** A value of a leaf, and two of them; they have 32 bits. */
function valueAt(at: usize): f64 {
  return load<f32>(at) as f64;
}
function pairAt(at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

/** Loops over the values of a leaf, which are added to `width` bytes of numbers. */
class Values {
  @inline
  static addChange(to: usize, now: usize, before: usize, weight: f64, width: usize): void {
    const weights = f64x2.splat(weight);
    const end = to + (width & -PAIR);
    for (; to < end; to += PAIR, now += PAIR / 2, before += PAIR / 2) {
      addPair(to, f64x2.sub(f64x2.mul(weights, pairAt(now)), f64x2.mul(weights, pairAt(before))));
    }
    if (width & NUMBER) {
      addNumber(to, weight * valueAt(now) - weight * valueAt(before));
    }
  }

  @inline
  static addShare(to: usize, from: usize, share: f64, width: usize): void {
    const end = to + (width & -PAIR);
    for (; to < end; to += PAIR, from += PAIR / 2) {
      addPair(to, f64x2.mul(pairAt(from), f64x2.splat(share)));
    }
    if (width & NUMBER) {
      addNumber(to, valueAt(from) * share);
    }
  }
}

class Changes {
  /**
   * Visits the changes at the flips of all permutations.
   *
   * @param isWritten writes them down from `to` on, instead of adding them to the scores there
   * @returns the end of what was written
   */
  @inline
  static take(
    isWritten: bool,
    header: usize,
    to: usize,
    mixtureBytes: usize,
    weight: f64,
    width: usize,
  ): usize {
    const flipsEnd: usize = load<u32>(header, BlockHeader.FLIPS_END);
    const permutationBytes = (load<u32>(header, BlockHeader.PLACES) + 1) * FLIP_BYTES;
    const values = part(header, BlockHeader.VALUES);
    for (let at: usize = load<u32>(header, BlockHeader.FLIPS); at < flipsEnd;) {
      const end = at + permutationBytes;
      let before = clz<u32>(load<u32>(at, WHOLE));
      let last: f64 = width == NUMBER && !isWritten ? weight * valueAt(values + (before << 2)) : 0;
      let passed: u32 = 0xffffffff;
      for (at += FLIP_BYTES; at < end; at += FLIP_BYTES) {
        const flip = load<u32>(at);
        passed &= load<u32>((flip & PLACE) << 2, BlocksAt.OWN);
        const now = clz<u32>(passed & load<u32>(at, WHOLE));
        // Whether or not the leaf changes: a branch would be mispredicted.
        if (isWritten) {
          const mixture = (flip & ~PLACE) << (2 * LeafChange.LEAF_BITS - PLACE_BITS);
          store<u32>(to, mixture | (before << LeafChange.LEAF_BITS) | now);
          to += usize(before != now) * LeafChange.BYTES;
        } else if (width == NUMBER) {
          const value = weight * valueAt(values + (now << 2));
          addNumber(to + (flip >> PLACE_BITS) * mixtureBytes, value - last);
          last = value;
        } else if (now != before) {
          const mixture = to + (flip >> PLACE_BITS) * mixtureBytes;
          Values.addChange(mixture, values + now * (width / 2), values + before * (width / 2), weight, width);
        }
        before = now;
      }
    }
    return to;
  }
}

/** Of the leaf in hand: the ends of its slots passed and failed, and the background rows that pass all of the latter. */
let insideEnd: usize = 0;
let outsideEnd: usize = 0;
let reaching: u32 = 0;

class Slots {
  /**
   * Divides the slots of a leaf by whether the foreground row passes them, and writes each one's place times `size`.
   *
   * @param bit of the leaf
   * @param groups of places: where it is not 0, the group is written in place of the place
   */
  @inline
  static divide(slots: usize, end: usize, bit: u32, rows: u32, groups: usize, size: usize): void {
    let inside: usize = BlocksAt.INSIDE;
    let outside: usize = BlocksAt.OUTSIDE;
    reaching = rows;
    for (; slots < end; slots += Slot.BYTES) {
      const place = load<u32>(slots, Slot.PLACE);
      const isPassed = (load<u32>(place << 2, BlocksAt.OWN) >> bit) & 1;
      const passing = load<u32>(slots, Slot.PASSES);
      // Every slot is written to both lists, but only one of them advances: a branch would be mispredicted.
      store<u32>(inside, ~passing);
      const told = (groups ? load<u32>(groups + (place << 2)) : place) * size;
      store<u32>(inside, told, WHOLE);
      inside += isPassed << 3;
      store<u32>(outside, told);
      outside += (1 - isPassed) << 2;
      reaching &= passing | (0 - isPassed);
    }
    insideEnd = inside;
    outsideEnd = outside;
  }
}

/** Sums Shapley weights times the number of `rows` that fail as many slots, from those at `failing` on. */
function weigh(share: usize, step: usize, failing: usize, most: usize, rows: u32): f64 {
  let sum: f64 = 0;
  for (; failing <= most; failing += WHOLE, share += step) {
    const count = popcnt<u32>(rows & load<u32>(failing));
    sum += load<f64>(share, BlocksAt.SHAPLEY_WEIGHTS) * (count as f64);
  }
  return sum;
}

/** Sorts the rows of `mask` by how many of the slots passed they fail, and returns where the last of these sets is. */
function countRows(mask: u32): usize {
  let most: usize = BlocksAt.ROWS_FAILING;
  store<u32>(most, mask);
  for (let at: usize = BlocksAt.INSIDE; at < insideEnd; at += 8) {
    const some = load<u32>(at) & mask;
    store<u32>(at, some);
    if (some) {
      most += WHOLE;
      store<u32>(most, 0);
      let p = most;
      for (; p > (BlocksAt.ROWS_FAILING as usize); p -= WHOLE) {
        store<u32>(p, (load<u32>(p) & ~some) | (load<u32>(p - WHOLE) & some));
      }
      store<u32>(p, load<u32>(p) & ~some);
    }
  }
  return most;
}

class Effects {
  /** Adds the Shapley values of a block for the background `rows`, per place. */
  @inline
  static add(header: usize, rows: u32, effects: usize, width: usize): void {
    const leavesEnd = part(header, BlockHeader.SLOTS);
    let from = part(header, BlockHeader.VALUES) + LAST_LEAF * (width / 2);
    let slots = leavesEnd;
    let bit: u32 = 0;
    for (
      let leaf = part(header, BlockHeader.LEAVES);
      leaf < leavesEnd;
      leaf += WHOLE, bit++, from -= width / 2
    ) {
      const end = slots + load<u32>(leaf) * Slot.BYTES;
      Slots.divide(slots, end, bit, rows, 0, width);
      slots = end;
      if (!reaching) {
        continue;
      }
      const most = countRows(reaching);
      const failed = (outsideEnd - BlocksAt.OUTSIDE) << 1;
      for (let at: usize = BlocksAt.INSIDE; at < insideEnd; at += 8) {
        const some = load<u32>(at);
        if (some) {
          const first = BlocksAt.ROWS_FAILING + WHOLE;
          const sum = weigh(failed + WEIGHTS_ROW, WEIGHTS_ROW, first, most, some);
          Values.addShare(effects + load<u32>(at, WHOLE), from, sum, width);
        }
      }
      if (failed) {
        const sum = weigh(failed * (MAX_SLOTS + 1), NUMBER, BlocksAt.ROWS_FAILING, most, 0xffffffff);
        for (let at: usize = BlocksAt.OUTSIDE; at < outsideEnd; at += WHOLE) {
          Values.addShare(effects + load<u32>(at), from, -sum, width);
        }
      }
    }
  }
}

/** Where the address of the row's result is in the table of cached results. */
function findKey(header: usize, bins: usize): usize {
  let key: u32 = 0;
  let bit: u32 = 2;
  const end = part(header, BlockHeader.LEAVES);
  for (let at = part(header, BlockHeader.BRANCHES); at < end; at += Branch.BYTES, bit++) {
    key |= isToLeft(header, at, bins) << bit;
  }
  return key + load<u32>(header, BlockHeader.KEYS);
}

/** Copies a result to the cache, and its address to `key`, if there is space. */
function keep(result: usize, key: usize): void {
  const size = (load<u32>(result, BlockResult.SIZE) + 7) & -8;
  const to = load<u32>(BlocksAt.NEXT_RESULT);
  if (size < load<u32>(BlocksAt.RESULTS_END) - to) {
    memory.copy(to, result, size);
    store<u32>(BlocksAt.NEXT_RESULT, to + size);
    store<u32>(key, to);
  }
}

class Results {
  @inline
  static write(header: usize, bins: usize, rows: u32, result: usize, width: usize): void {
    findPasses(header, bins);
    const effects = result + BlockResult.EFFECTS;
    const places = load<u32>(header, BlockHeader.PLACES) * width;
    memory.fill(effects, 0, places);
    Effects.add(header, rows, effects, width);
    const isKeyed = load<u32>(header, BlockHeader.KEYS) != 0;
    const end = effects + places;
    store<u32>(
      result,
      (isKeyed ? Changes.take(true, header, end, 0, 0, width) : end) - result,
      BlockResult.SIZE,
    );
  }

  /** Adds the effects of the block's places, and the changes along permutations. */
  @inline
  static add(
    header: usize,
    result: usize,
    scores: usize,
    mixtureBytes: usize,
    effects: usize,
    groups: usize,
    weight: f64,
    width: usize,
  ): void {
    let at = result + BlockResult.EFFECTS;
    let group = part(header, BlockHeader.GROUPS);
    const first = effects + load<u32>(header, BlockHeader.EFFECTS);
    for (const end = group + load<u32>(header, BlockHeader.PLACES) * WHOLE; group < end; group += WHOLE) {
      let to = first + load<u32>(group) * NUMBER;
      for (const last = at + width; at < last; at += NUMBER, to += groups) {
        addNumber(to, weight * load<f64>(at));
      }
    }
    const output = scores + load<u32>(header, BlockHeader.OUTPUT);
    if (!load<u32>(header, BlockHeader.KEYS)) {
      Changes.take(false, header, output, mixtureBytes, weight, width);
      return;
    }
    const values = part(header, BlockHeader.VALUES);
    for (const end = result + load<u32>(result, BlockResult.SIZE); at < end; at += LeafChange.BYTES) {
      const change = load<u32>(at);
      Values.addChange(
        output + (change >> (2 * LeafChange.LEAF_BITS)) * mixtureBytes,
        values + (change & CHANGE_LEAF) * (width / 2),
        values + ((change >> LeafChange.LEAF_BITS) & CHANGE_LEAF) * (width / 2),
        weight,
        width,
      );
    }
  }

  @inline
  static addAll(
    blocks: usize,
    end: usize,
    bins: usize,
    rows: u32,
    scores: usize,
    mixtureBytes: usize,
    effects: usize,
    groups: usize,
    scratch: usize,
    weight: f64,
    width: usize,
  ): void {
    for (let header = blocks; header < end; header += load<u32>(header, BlockHeader.SIZE)) {
      const key: usize = load<u32>(header, BlockHeader.KEYS) ? findKey(header, bins) : 0;
      let result: usize = key ? load<u32>(key) : 0;
      if (!result) {
        result = scratch;
        Results.write(header, bins, rows, result, width);
        if (key) {
          keep(result, key);
        }
      }
      Results.add(header, result, scores, mixtureBytes, effects, groups, weight, width);
    }
  }
}

/**
 * Adds the results of blocks.
 *
 * @param end of the blocks
 * @param bins of the foreground row, per column
 * @param rows all background rows, as bits
 * @param scores mixtures × outputs
 * @param mixtureBytes of one mixture's scores
 * @param effects outputs × groups
 * @param groups bytes of one output's effects
 * @param scratch for the longest result
 * @param width bytes of a leaf's values
 */
export function addBlocks(
  blocks: usize,
  end: usize,
  bins: usize,
  rows: u32,
  scores: usize,
  mixtureBytes: usize,
  effects: usize,
  groups: usize,
  scratch: usize,
  weight: f64,
  width: usize,
): void {
  // Trees with one value per leaf have loops of their own: without, they take up to 1.1 of the time.
  if (width == NUMBER) {
    Results.addAll(blocks, end, bins, rows, scores, mixtureBytes, effects, groups, scratch, weight, NUMBER);
  } else {
    Results.addAll(blocks, end, bins, rows, scores, mixtureBytes, effects, groups, scratch, weight, width);
  }
}

/**
 * Adds blocks to the Möbius transform of the scores of coalitions: a leaf appears in the coalitions that contain every
 * group that the background row fails plus any subset of those that the foreground row fails, with alternating sign.
 *
 * @param starts per background row, the number of its first coalition
 * @param bits groups × 32 background rows: the group's bit in a coalition
 */
export function addBlockCoalitions(
  blocks: usize,
  end: usize,
  bins: usize,
  rows: u32,
  scores: usize,
  mixtureBytes: usize,
  starts: usize,
  bits: usize,
  weight: f64,
  width: usize,
): void {
  for (let header = blocks; header < end; header += load<u32>(header, BlockHeader.SIZE)) {
    findPasses(header, bins);
    const groups = part(header, BlockHeader.GROUPS);
    const leavesEnd = part(header, BlockHeader.SLOTS);
    const output = scores + load<u32>(header, BlockHeader.OUTPUT);
    let from = part(header, BlockHeader.VALUES) + LAST_LEAF * (width / 2);
    let slots = leavesEnd;
    let bit: u32 = 0;
    for (
      let leaf = part(header, BlockHeader.LEAVES);
      leaf < leavesEnd;
      leaf += WHOLE, bit++, from -= width / 2
    ) {
      const last = slots + load<u32>(leaf) * Slot.BYTES;
      Slots.divide(slots, last, bit, rows, groups, GROUP_BITS);
      slots = last;
      for (let rest = reaching; rest; rest &= rest - 1) {
        const row = ctz<u32>(rest);
        const own = bits + row * WHOLE;
        let inside: u32 = 0;
        for (let at: usize = BlocksAt.INSIDE; at < insideEnd; at += 8) {
          const isFailing = (load<u32>(at) >> row) & 1;
          inside |= load<u32>(own + load<u32>(at, WHOLE)) & (0 - isFailing);
        }
        let outside: u32 = 0;
        for (let at: usize = BlocksAt.OUTSIDE; at < outsideEnd; at += WHOLE) {
          outside |= load<u32>(own + load<u32>(at));
        }
        const first = output + (load<u32>(starts + row * WHOLE) + inside) * mixtureBytes;
        for (let some = outside; ; some = (some - 1) & outside) {
          Values.addShare(first + some * mixtureBytes, from, popcnt<u32>(some) & 1 ? -weight : weight, width);
          if (!some) {
            break;
          }
        }
      }
    }
  }
}
