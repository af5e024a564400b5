import { FoundSplit, Search } from './layout';
import { addNumber, addPair, NUMBER, PAIR, WHOLE } from './shared.as';

/*
 * The loops of `SplitSearch`: the best split of a node by one column, better than `gain`. `room` begins with the record of what was
 * found, then the rules. `sums` holds, for each bin, `width` gradients and the hessian; bin 0 is of missing values.
 */

/** Squared gradients over the hessian. */
function score(gradients: usize, width: usize, hessian: f64): f64 {
  let sum: f64 = 0;
  for (let d: usize = 0; d < width; d++) {
    const gradient = load<f64>(gradients + d * NUMBER);
    sum += gradient * gradient;
  }
  return sum / hessian;
}

function tell(room: usize, gain: f64, bin: u32, hessian: f64, missing: f64, withMissing: u32): void {
  store<f64>(room, gain, FoundSplit.GAIN);
  store<f64>(room, hessian, FoundSplit.HESSIAN);
  store<f64>(room, missing, FoundSplit.MISSING);
  store<u32>(room, bin, FoundSplit.BIN);
  store<u32>(room, withMissing, FoundSplit.WITH_MISSING);
}

/** Of one gradient: the gains of two borders are worked out side by side. */
function searchOne(room: usize, sums: usize, bins: usize, totals: usize, gain: f64): bool {
  const lambda = load<f64>(room, Search.LAMBDA);
  const total = load<f64>(totals);
  const totalHessian = load<f64>(totals, NUMBER);
  const allTotals = f64x2.splat(total);
  const allHessians = f64x2.splat(totalHessian);
  const lambdas = f64x2.splat(lambda);
  const leasts = v128.load64_splat(room + Search.MIN_HESSIAN);
  const none = f64x2.splat(0);
  const parent = (total * total) / (totalHessian + lambda);
  const missing = v128.load(sums);
  const missingHessian = f64x2.extract_lane(missing, 1);
  const last = sums + bins * PAIR - PAIR;
  let top = max<f64>(gain, load<f64>(room, Search.MIN_GAIN)) + parent;
  let tops = f64x2.splat(top);
  let found: usize = 0;
  let foundHessian: f64 = 0;
  let foundPass: u32 = 0;
  const passes: u32 = missingHessian > 0 ? 2 : 1;
  for (let pass: u32 = 0; pass < passes; pass++) {
    let left = pass ? missing : none;
    for (let at = sums + PAIR; at <= last; at += 2 * PAIR) {
      const first = v128.load(at);
      const second = at < last ? v128.load(at, PAIR) : none;
      const before = f64x2.add(left, first);
      left = f64x2.add(before, second);
      const gradients = i64x2.shuffle(before, left, 0, 2);
      const hessians = i64x2.shuffle(before, left, 1, 3);
      const rests = f64x2.sub(allHessians, hessians);
      const others = f64x2.sub(allTotals, gradients);
      const below = f64x2.add(hessians, lambdas);
      const above = f64x2.add(rests, lambdas);
      // The gain times both denominators: dividing each time would take longer than everything else.
      const scaled = f64x2.add(
        f64x2.mul(f64x2.mul(gradients, gradients), above),
        f64x2.mul(f64x2.mul(others, others), below),
      );
      const products = f64x2.mul(below, above);
      const isBetter = v128.and(
        v128.and(f64x2.ge(hessians, leasts), f64x2.ge(rests, leasts)),
        v128.and(
          f64x2.ne(i64x2.shuffle(first, second, 1, 3), none),
          f64x2.gt(scaled, f64x2.mul(tops, products)),
        ),
      );
      const lanes = i64x2.bitmask(isBetter);
      if (lanes) {
        if (lanes & 1) {
          top = f64x2.extract_lane(scaled, 0) / f64x2.extract_lane(products, 0);
          found = at;
          foundHessian = f64x2.extract_lane(hessians, 0);
          foundPass = pass;
        }
        if (lanes & 2 && f64x2.extract_lane(scaled, 1) > top * f64x2.extract_lane(products, 1)) {
          top = f64x2.extract_lane(scaled, 1) / f64x2.extract_lane(products, 1);
          found = at + PAIR;
          foundHessian = f64x2.extract_lane(hessians, 1);
          foundPass = pass;
        }
        tops = f64x2.splat(top);
      }
    }
  }
  if (found) {
    tell(room, top - parent, u32((found - sums) / PAIR), foundHessian, missingHessian, foundPass);
  }
  return found > 0;
}

/** The gain of the gradients on the left against the rest of `totals`. */
function computeGain(left: usize, totals: usize, width: usize, hessian: f64, rest: f64, parent: f64): f64 {
  let below: f64 = 0;
  let above: f64 = 0;
  for (let d: usize = 0; d < width; d++) {
    const own = load<f64>(left + d * NUMBER);
    const other = load<f64>(totals + d * NUMBER) - own;
    below += own * own;
    above += other * other;
  }
  return below / hessian + above / rest - parent;
}

/** Of more gradients. */
function searchSeveral(room: usize, sums: usize, bins: usize, width: usize, totals: usize, gain: f64): bool {
  const lambda = load<f64>(room, Search.LAMBDA);
  const least = load<f64>(room, Search.MIN_HESSIAN);
  const left = room + Search.LEFT;
  const bytes = width * NUMBER;
  const stride = bytes + NUMBER;
  const totalHessian = load<f64>(totals + bytes);
  const parent = score(totals, width, totalHessian + lambda);
  const missing = load<f64>(sums + bytes);
  const end = sums + bins * stride;
  let top = max<f64>(gain, load<f64>(room, Search.MIN_GAIN));
  let isFound = false;
  const passes: u32 = missing > 0 ? 2 : 1;
  for (let pass: u32 = 0; pass < passes; pass++) {
    let hessian: f64 = pass ? missing : 0;
    memory.fill(left, 0, bytes);
    if (pass) {
      memory.copy(left, sums, bytes);
    }
    for (let at = sums + stride; at < end; at += stride) {
      const own = load<f64>(at + bytes);
      if (own == 0) {
        continue;
      }
      for (let d: usize = 0; d < bytes; d += NUMBER) {
        addNumber(left + d, load<f64>(at + d));
      }
      hessian += own;
      const rest = totalHessian - hessian;
      if (hessian < least || rest < least) {
        continue;
      }
      const better = computeGain(left, totals, width, hessian + lambda, rest + lambda, parent);
      if (better > top) {
        top = better;
        isFound = true;
        tell(room, better, u32((at - sums) / stride), hessian, missing, pass);
      }
    }
  }
  return isFound;
}

/**
 * The searches say whether a split by one column is better than `gain`, and write it into the room.
 *
 * @param room as `layout.ts` lays it out
 * @param sums of the bins; `bins` is their number, `width` that of their gradients
 * @param totals the node's gradients, then its hessian
 */
export function searchOrdered(
  room: usize,
  sums: usize,
  bins: usize,
  width: usize,
  totals: usize,
  gain: f64,
): bool {
  return width == 1
    ? searchOne(room, sums, bins, totals, gain)
    : searchSeveral(room, sums, bins, width, totals, gain);
}

/** The gradient that varies most between bins, in bytes: of several, categories are sorted by that one. */
function widest(sums: usize, bins: usize, width: usize): usize {
  const bytes = width * NUMBER;
  const end = sums + bins * (bytes + NUMBER);
  let most: f64 = -1;
  let main: usize = 0;
  for (let d: usize = 0; d < bytes; d += NUMBER) {
    let spread: f64 = 0;
    for (let at = sums; at < end; at += bytes + NUMBER) {
      const hessian = load<f64>(at + bytes);
      if (hessian > 0) {
        const gradient = load<f64>(at + d);
        spread += (gradient * gradient) / hessian;
      }
    }
    if (spread > most) {
      most = spread;
      main = d;
    }
  }
  return main;
}

/** Sorts numbers, of which no two are alike: by where they lie between the ends, then by insertion. */
function sort(room: usize, count: i32): void {
  const keys = room + Search.KEYS;
  const end = keys + usize(count) * NUMBER;
  if (count > 16) {
    spread(room, keys, end);
  }
  for (let at = keys + NUMBER; at < end; at += NUMBER) {
    const key = load<f64>(at);
    let to = at;
    for (; to > keys && load<f64>(to - NUMBER) > key; to -= NUMBER) {
      store<f64>(to, load<f64>(to - NUMBER));
    }
    store<f64>(to, key);
  }
}

/** Puts numbers into as many equal steps from the lowest to the highest, which leaves them nearly in order. */
function spread(room: usize, keys: usize, end: usize): void {
  const places = room + Search.PLACES;
  const steps = room + Search.STEPS;
  let low = load<f64>(keys);
  let high = low;
  for (let at = keys; at < end; at += NUMBER) {
    low = min<f64>(low, load<f64>(at));
    high = max<f64>(high, load<f64>(at));
  }
  memory.fill(places, 0, 256);
  const most = f64((end - keys) / NUMBER - 1);
  const scale = most / (high - low);
  for (let at = keys, step = steps; at < end; at += NUMBER, step++) {
    const own = u8(min<f64>((load<f64>(at) - low) * scale, most));
    store<u8>(step, own);
    store<u8>(places + own, load<u8>(places + own) + 1);
  }
  let place: u8 = 0;
  for (let at = places; at < places + 256; at++) {
    const count = load<u8>(at);
    store<u8>(at, place);
    place += count;
  }
  const sorted = room + Search.SORTED;
  for (let at = keys, step = steps; at < end; at += NUMBER, step++) {
    const to = places + load<u8>(step);
    store<f64>(sorted + usize(load<u8>(to)) * NUMBER, load<f64>(at));
    store<u8>(to, load<u8>(to) + 1);
  }
  memory.copy(keys, sorted, end - keys);
}

/**
 * As `searchOrdered`, of a column of categories.
 *
 * @param chance what each category beyond the first gains by chance; a split has to gain more
 */
export function searchCategories(
  room: usize,
  sums: usize,
  bins: usize,
  width: usize,
  totals: usize,
  gain: f64,
  chance: f64,
): bool {
  const bytes = width * NUMBER;
  const stride = bytes + NUMBER;
  const smooth = load<f64>(room, Search.SMOOTH);
  const least = load<f64>(room, Search.MIN_HESSIAN);
  const main = width > 1 ? widest(sums, bins, width) : 0;
  const keys = room + Search.KEYS;
  let seen = 0;
  for (let bin: usize = 0, at = sums; bin < bins; bin++, at += stride) {
    const hessian = load<f64>(at + bytes);
    if (hessian == 0) {
      continue;
    }
    // The last byte of a key is its bin.
    const key = reinterpret<u64>(load<f64>(at + main) / (hessian + smooth));
    store<u64>(keys + usize(seen++) * NUMBER, (key & ~0xff) | u64(bin));
  }
  if (seen < 2) {
    return false;
  }
  sort(room, seen);
  let lambda = load<f64>(room, Search.LAMBDA);
  if (seen > 4) {
    lambda += load<f64>(room, Search.CATEGORY_LAMBDA);
  }
  const left = room + Search.LEFT;
  const totalHessian = load<f64>(totals + bytes);
  const parent = score(totals, width, totalHessian + lambda);
  const byChance = chance * f64(seen - 1);
  const minGain = load<f64>(room, Search.MIN_GAIN);
  let top = max<f64>(gain, minGain);
  let hessian: f64 = 0;
  let one: f64 = 0;
  let cut = -1;
  let isHeavier = false;
  const total = load<f64>(totals);
  memory.fill(left, 0, bytes);
  for (let i = 0; i < seen - 1; i++) {
    const at = sums + (load<u8>(keys + usize(i) * NUMBER) as usize) * stride;
    hessian += load<f64>(at + bytes);
    const rest = totalHessian - hessian;
    let better: f64;
    if (width == 1) {
      one += load<f64>(at);
      if (hessian < least || rest < least) {
        continue;
      }
      const other = total - one;
      better = (one * one) / (hessian + lambda) + (other * other) / (rest + lambda) - parent - byChance;
    } else {
      for (let d: usize = 0; d < bytes; d += NUMBER) {
        addNumber(left + d, load<f64>(at + d));
      }
      if (hessian < least || rest < least) {
        continue;
      }
      better = computeGain(left, totals, width, hessian + lambda, rest + lambda, parent) - byChance;
    }
    if (better > top) {
      top = better;
      cut = i;
      isHeavier = hessian * 2 >= totalHessian;
    }
  }
  if (cut < 0) {
    return false;
  }
  // Bins that the node lacks go to the heavier side.
  const set = room + FoundSplit.SET;
  memory.fill(set, isHeavier ? 0xff : 0, 32);
  for (let i = 0; i < seen; i++) {
    const bin = load<u8>(keys + usize(i) * NUMBER) as usize;
    const word = set + (bin >> 5) * WHOLE;
    const bit: u32 = 1 << u32(bin & 31);
    store<u32>(word, i <= cut ? load<u32>(word) | bit : load<u32>(word) & ~bit);
  }
  store<f64>(room, top, FoundSplit.GAIN);
  return true;
}

/** The same of the rows of a node, with one gradient. `column`: the bin of every row of the table. */
export function searchRows(
  room: usize,
  rows: usize,
  end: usize,
  gradHess: usize,
  column: usize,
  bins: usize,
  isCategory: bool,
  totals: usize,
  gain: f64,
  chance: f64,
): bool {
  const sums = room + Search.SUMS;
  const occurs = room + Search.OCCURS;
  for (; rows < end; rows += WHOLE) {
    const row = load<u32>(rows) as usize;
    const bin = load<u8>(column + row) as usize;
    addPair(sums + bin * PAIR, v128.load(gradHess + row * PAIR));
    const word = occurs + (bin >> 6) * NUMBER;
    store<u64>(word, load<u64>(word) | ((1 as u64) << u64(bin & 63)));
  }
  if (isCategory) {
    const isFound = searchCategories(room, sums, bins, 1, totals, gain, chance);
    memory.fill(sums, 0, bins * PAIR);
    memory.fill(occurs, 0, 32);
    return isFound;
  }
  // The bins that occur move next to each other, in order: place k > 0 is bin `binAt[k]`.
  const binAt = room + Search.BIN_AT;
  store<u64>(occurs, load<u64>(occurs) & ~1);
  let places: usize = 1;
  for (let word: usize = 0; word < 4; word++) {
    let bits = load<u64>(occurs + word * NUMBER);
    for (; bits; bits &= bits - 1, places++) {
      const bin = (word << 6) + usize(ctz(bits));
      store<u8>(binAt + places, bin as u8);
      v128.store(sums + places * PAIR, v128.load(sums + bin * PAIR));
      if (places != bin) {
        v128.store(sums + bin * PAIR, f64x2.splat(0));
      }
    }
  }
  memory.fill(occurs, 0, 32);
  const isFound = searchOne(room, sums, places, totals, gain);
  memory.fill(sums, 0, places * PAIR);
  if (isFound) {
    store<u32>(room, load<u8>(binAt + usize(load<u32>(room, FoundSplit.BIN))), FoundSplit.BIN);
  }
  return isFound;
}
