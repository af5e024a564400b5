import { addNumber, addPair, NUMBER, PAIR, plusFirst, plusProduct, sumOfLanes } from './shared.as';

/* The loops over kernels that are products over groups of columns. */

/** Four numbers. */
const FOUR: usize = 32;

class Half {
  /**
   * The products for all subsets of a list of groups: the foreground row's factor if the group is in, else the background
   * row's.
   *
   * @returns bytes written
   */
  @inline
  static fill(half: usize, list: usize, listEnd: usize, own: usize, others: usize, start: f64): usize {
    store<f64>(half, start);
    let size: usize = NUMBER;
    for (; list < listEnd; list += 4, size += size) {
      const mine = load<f64>(own + load<u32>(list));
      const theirs = load<f64>(others + load<u32>(list));
      const last = half + size;
      for (let at = half; at < last; at += NUMBER) {
        const product = load<f64>(at);
        store<f64>(at + size, product * mine);
        store<f64>(at, product * theirs);
      }
    }
    return size;
  }
}

export function addCoalitions(
  own: usize,
  others: usize,
  groups: usize,
  step: usize,
  alike: usize,
  first: usize,
  second: usize,
  end: usize,
  low: usize,
  high: usize,
  weights: usize,
  points: usize,
  sums: usize,
  sumsEnd: usize,
): void {
  const weightsEnd = weights + points;
  for (; weights < weightsEnd; weights += NUMBER, own += groups, others += step) {
    let start: f64 = 1;
    for (let list = alike; list < first; list += 4) {
      start *= load<f64>(others + load<u32>(list));
    }
    const lowEnd = low + Half.fill(low, first, second, own, others, start);
    const highEnd = high + Half.fill(high, second, end, own, others, 1);
    let weight = weights;
    for (let to = sums; to < sumsEnd; weight += points) {
      for (let at = high; at < highEnd; at += NUMBER) {
        const factor = f64x2.splat(load<f64>(weight) * load<f64>(at));
        for (let from = low; from < lowEnd; from += PAIR, to += PAIR) {
          addPair(to, f64x2.mul(factor, v128.load(from)));
        }
      }
    }
  }
}

/** A product times what a group's factor is at two nodes. */
function timesGroup(product: v128, other: v128, more: v128, nodes: v128): v128 {
  return f64x2.mul(product, f64x2.add(other, f64x2.mul(nodes, more)));
}

/**
 * Per point, `scratch` holds: the rise of each group's factor, the gain of each group, and the products before each group at
 * four nodes.
 */
export function addPointEffects(
  own: usize,
  others: usize,
  points: usize,
  groups: usize,
  rows: usize,
  mask: u32,
  nodes: usize,
  nodesEnd: usize,
  weights: usize,
  effects: usize,
  bases: usize,
  basesEnd: usize,
  scratch: usize,
  share: f64,
): void {
  const gains = scratch + groups;
  const before = gains + groups;
  const shares = f64x2.splat(share);
  const weightsEnd = weights + points;
  for (; weights < weightsEnd; weights += NUMBER, own += groups, others += rows) {
    let startSum: f64 = 0;
    memory.fill(gains, 0, groups);
    for (let rest = mask; rest; rest &= rest - 1) {
      const from = others + ctz<u32>(rest) * groups;
      let start = share;
      for (let g: usize = 0; g < groups; g += NUMBER) {
        const other = load<f64>(from + g);
        start *= other;
        store<f64>(scratch + g, load<f64>(own + g) - other);
      }
      startSum += start;
      // The product of all factors but one is the product before it times the product after it: cheaper than dividing.
      for (let node = nodes; node < nodesEnd; node += 4 * PAIR) {
        const nodes01 = v128.load(node);
        const nodes23 = v128.load(node, PAIR);
        let product01 = f64x2.mul(shares, v128.load(node, 2 * PAIR));
        let product23 = f64x2.mul(shares, v128.load(node, 3 * PAIR));
        let to = before;
        for (let g: usize = 0; g < groups; g += NUMBER, to += FOUR) {
          const other = v128.load64_splat(from + g);
          const more = v128.load64_splat(scratch + g);
          v128.store(to, product01);
          v128.store(to, product23, PAIR);
          product01 = timesGroup(product01, other, more, nodes01);
          product23 = timesGroup(product23, other, more, nodes23);
        }
        product01 = f64x2.splat(1);
        product23 = f64x2.splat(1);
        for (let g = groups; g > 0;) {
          g -= NUMBER;
          to -= FOUR;
          const other = v128.load64_splat(from + g);
          const more = v128.load64_splat(scratch + g);
          const pair = f64x2.mul(v128.load(to), product01);
          const second = f64x2.mul(v128.load(to, PAIR), product23);
          addNumber(gains + g, load<f64>(scratch + g) * (sumOfLanes(pair) + sumOfLanes(second)));
          product01 = timesGroup(product01, other, more, nodes01);
          product23 = timesGroup(product23, other, more, nodes23);
        }
      }
    }
    let weightAt = weights;
    let to = effects;
    for (let base = bases; base < basesEnd; base += NUMBER, weightAt += points) {
      const weight = load<f64>(weightAt);
      addNumber(base, weight * startSum);
      for (let g: usize = 0; g < groups; g += NUMBER, to += NUMBER) {
        addNumber(to, weight * load<f64>(gains + g));
      }
    }
  }
}

export function divideByRows(
  dividends: usize,
  divisors: usize,
  length: usize,
  quotients: usize,
  quotientsEnd: usize,
): void {
  while (quotients < quotientsEnd) {
    let at = dividends;
    const end = dividends + (length & -PAIR);
    for (; at < end; at += PAIR, divisors += PAIR, quotients += PAIR) {
      v128.store(quotients, f64x2.div(v128.load(at), v128.load(divisors)));
    }
    if (length & NUMBER) {
      store<f64>(quotients, load<f64>(at) / load<f64>(divisors));
      divisors += NUMBER;
      quotients += NUMBER;
    }
  }
}

/** Sums over points, in four partial sums. */
class Points {
  /** The sum of the products of two lists. */
  @inline
  static weigh(kernel: usize, by: usize, points: usize): f64 {
    let ab = f64x2.splat(0);
    let cd = f64x2.splat(0);
    let at: usize = 0;
    for (const fours = points & -FOUR; at < fours; at += FOUR) {
      ab = plusProduct(ab, v128.load(by + at), v128.load(kernel + at));
      cd = plusProduct(cd, v128.load(by + at, PAIR), v128.load(kernel + at, PAIR));
    }
    for (; at < points; at += NUMBER) {
      ab = plusFirst(ab, load<f64>(by + at) * load<f64>(kernel + at));
    }
    return sumOfLanes(ab) + sumOfLanes(cd);
  }

  /** Multiplies a list by another one, and returns its sum. */
  @inline
  static multiply(kernel: usize, by: usize, points: usize): f64 {
    let ab = f64x2.splat(0);
    let cd = f64x2.splat(0);
    let at: usize = 0;
    for (const fours = points & -FOUR; at < fours; at += FOUR) {
      const first = f64x2.mul(v128.load(kernel + at), v128.load(by + at));
      v128.store(kernel + at, first);
      ab = f64x2.add(ab, first);
      const second = f64x2.mul(v128.load(kernel + at, PAIR), v128.load(by + at, PAIR));
      v128.store(kernel + at, second, PAIR);
      cd = f64x2.add(cd, second);
    }
    for (; at < points; at += NUMBER) {
      const one = load<f64>(kernel + at) * load<f64>(by + at);
      store<f64>(kernel + at, one);
      ab = plusFirst(ab, one);
    }
    return sumOfLanes(ab) + sumOfLanes(cd);
  }

  /** Writes the change of a score. */
  @inline
  static change(to: usize, score: usize, ab: v128, cd: v128): void {
    const sum = sumOfLanes(ab) + sumOfLanes(cd);
    store<f64>(to, sum - load<f64>(score));
    store<f64>(score, sum);
  }

  /**
   * `multiply`, and the scores of two to six outputs in the same pass.
   *
   * @param weights of all outputs for four points at a time, then point by point
   */
  @inline
  static multiplyAndWeigh(
    outputs: i32,
    kernel: usize,
    by: usize,
    points: usize,
    weights: usize,
    scores: usize,
    to: usize,
  ): void {
    let ab0 = f64x2.splat(0);
    let cd0 = f64x2.splat(0);
    let ab1 = f64x2.splat(0);
    let cd1 = f64x2.splat(0);
    let ab2 = f64x2.splat(0);
    let cd2 = f64x2.splat(0);
    let ab3 = f64x2.splat(0);
    let cd3 = f64x2.splat(0);
    let ab4 = f64x2.splat(0);
    let cd4 = f64x2.splat(0);
    let ab5 = f64x2.splat(0);
    let cd5 = f64x2.splat(0);
    let at: usize = 0;
    for (const fours = points & -FOUR; at < fours; at += FOUR, weights += outputs * FOUR) {
      const first = f64x2.mul(v128.load(kernel + at), v128.load(by + at));
      v128.store(kernel + at, first);
      const second = f64x2.mul(v128.load(kernel + at, PAIR), v128.load(by + at, PAIR));
      v128.store(kernel + at, second, PAIR);
      ab0 = plusProduct(ab0, v128.load(weights), first);
      cd0 = plusProduct(cd0, v128.load(weights, PAIR), second);
      ab1 = plusProduct(ab1, v128.load(weights, 2 * PAIR), first);
      cd1 = plusProduct(cd1, v128.load(weights, 3 * PAIR), second);
      if (outputs > 2) {
        ab2 = plusProduct(ab2, v128.load(weights, 4 * PAIR), first);
        cd2 = plusProduct(cd2, v128.load(weights, 5 * PAIR), second);
      }
      if (outputs > 3) {
        ab3 = plusProduct(ab3, v128.load(weights, 6 * PAIR), first);
        cd3 = plusProduct(cd3, v128.load(weights, 7 * PAIR), second);
      }
      if (outputs > 4) {
        ab4 = plusProduct(ab4, v128.load(weights, 8 * PAIR), first);
        cd4 = plusProduct(cd4, v128.load(weights, 9 * PAIR), second);
      }
      if (outputs > 5) {
        ab5 = plusProduct(ab5, v128.load(weights, 10 * PAIR), first);
        cd5 = plusProduct(cd5, v128.load(weights, 11 * PAIR), second);
      }
    }
    for (; at < points; at += NUMBER, weights += outputs * NUMBER) {
      const one = load<f64>(kernel + at) * load<f64>(by + at);
      store<f64>(kernel + at, one);
      ab0 = plusFirst(ab0, load<f64>(weights) * one);
      ab1 = plusFirst(ab1, load<f64>(weights, NUMBER) * one);
      if (outputs > 2) ab2 = plusFirst(ab2, load<f64>(weights, 2 * NUMBER) * one);
      if (outputs > 3) ab3 = plusFirst(ab3, load<f64>(weights, 3 * NUMBER) * one);
      if (outputs > 4) ab4 = plusFirst(ab4, load<f64>(weights, 4 * NUMBER) * one);
      if (outputs > 5) ab5 = plusFirst(ab5, load<f64>(weights, 5 * NUMBER) * one);
    }
    Points.change(to, scores, ab0, cd0);
    Points.change(to + NUMBER, scores + NUMBER, ab1, cd1);
    if (outputs > 2) Points.change(to + 2 * NUMBER, scores + 2 * NUMBER, ab2, cd2);
    if (outputs > 3) Points.change(to + 3 * NUMBER, scores + 3 * NUMBER, ab3, cd3);
    if (outputs > 4) Points.change(to + 4 * NUMBER, scores + 4 * NUMBER, ab4, cd4);
    if (outputs > 5) Points.change(to + 5 * NUMBER, scores + 5 * NUMBER, ab5, cd5);
  }
}

/** Multiplies the kernel of a permutation by the ratios of a group, and writes the change of each score. */
function takeStep(
  kernel: usize,
  by: usize,
  points: usize,
  weights: usize,
  weightsByFours: usize,
  scores: usize,
  outputs: usize,
  to: usize,
): void {
  switch (outputs / NUMBER) {
    case 2:
      Points.multiplyAndWeigh(2, kernel, by, points, weightsByFours, scores, to);
      return;
    case 3:
      Points.multiplyAndWeigh(3, kernel, by, points, weightsByFours, scores, to);
      return;
    case 4:
      Points.multiplyAndWeigh(4, kernel, by, points, weightsByFours, scores, to);
      return;
    case 5:
      Points.multiplyAndWeigh(5, kernel, by, points, weightsByFours, scores, to);
      return;
    case 6:
      Points.multiplyAndWeigh(6, kernel, by, points, weightsByFours, scores, to);
      return;
  }
  const sum = Points.multiply(kernel, by, points);
  if (outputs == NUMBER) {
    // The weights of a single output are multiplied into its kernel.
    store<f64>(to, sum - load<f64>(scores));
    store<f64>(scores, sum);
    return;
  }
  for (let at: usize = 0; at < outputs; at += NUMBER, weights += points) {
    const score = Points.weigh(kernel, weights, points);
    store<f64>(to + at, score - load<f64>(scores + at));
    store<f64>(scores + at, score);
  }
}

export function followPermutations(
  starts: usize,
  ratios: usize,
  rowRatios: usize,
  places: usize,
  placesEnd: usize,
  permutation: usize,
  row: usize,
  mask: u32,
  points: usize,
  weights: usize,
  weightsByFours: usize,
  base: usize,
  outputs: usize,
  kernel: usize,
  changes: usize,
): void {
  const scores = kernel + points;
  for (; places < placesEnd; mask >>= 1, starts += points, ratios += rowRatios) {
    const rowEnd = places + row;
    if (!(mask & 1)) {
      // As many scores as there are places, at four bytes each.
      changes += (row >> 2) * outputs;
      places = rowEnd;
      continue;
    }
    while (places < rowEnd) {
      const end = places + permutation;
      memory.copy(kernel, starts, points);
      for (let at: usize = 0, by = weights; at < outputs; at += NUMBER, by += points) {
        const score = Points.weigh(kernel, by, points);
        store<f64>(changes + at, load<f64>(base + at) + score);
        store<f64>(scores + at, score);
      }
      changes += outputs;
      if (outputs == NUMBER) {
        Points.multiply(kernel, weights, points);
      }
      for (places += 4; places < end; places += 4, changes += outputs) {
        const place = load<u32>(places);
        if (place != 0xffffffff) {
          takeStep(kernel, ratios + place, points, weights, weightsByFours, scores, outputs, changes);
        }
      }
    }
  }
}
