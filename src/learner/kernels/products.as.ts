import { BACKWARDS } from './layout';
import { addPair, NUMBER, PAIR, sumOfLanes, WHOLE } from './shared.as';

/* The loops over kernels that are products over groups of columns, four points at a time: lists of points are padded. */

/** Four numbers. */
const FOUR: usize = 32;

/** A product times what a group's factor is at a node. */
function timesGroup(product: v128, other: v128, more: v128, node: v128): v128 {
  return f64x2.mul(product, f64x2.add(other, f64x2.mul(node, more)));
}

/** Adds two products before and after a group, times what its factor rises by. */
function addGain(to: usize, more: v128, before: usize, after0: v128, after1: v128): void {
  const sum = f64x2.add(f64x2.mul(v128.load(before), after0), f64x2.mul(v128.load(before, 2 * PAIR), after1));
  addPair(to, f64x2.mul(more, sum));
}

/**
 * Adds what each group's Shapley value is of the kernel at each point, over all background rows.
 *
 * @param own factors of the foreground row
 * @param size bytes of these
 * @param others factors of the background rows
 * @param groups bytes of all groups' factors for four points
 * @param nodes of the quadrature, each with its weight, an even number
 * @param before scratch for eight numbers per group
 * @param gains as factors
 */
export function addGains(
  own: usize,
  size: usize,
  others: usize,
  othersEnd: usize,
  groups: usize,
  nodes: usize,
  nodesEnd: usize,
  before: usize,
  gains: usize,
): void {
  for (; others < othersEnd; others += size) {
    for (let start: usize = 0; start < size; start += groups) {
      const end = start + groups;
      for (let at = nodes; at < nodesEnd; at += FOUR) {
        // Two pairs of points at two nodes.
        const node0 = v128.load64_splat(at);
        const node1 = v128.load64_splat(at, PAIR);
        let a0 = v128.load64_splat(at, NUMBER);
        let b0 = a0;
        let a1 = v128.load64_splat(at, PAIR + NUMBER);
        let b1 = a1;
        let to = before;
        // The product of all factors but one is the product before it times the product after it: cheaper than dividing.
        for (let g = start; g < end; g += FOUR, to += 2 * FOUR) {
          v128.store(to, a0);
          v128.store(to, b0, PAIR);
          v128.store(to, a1, 2 * PAIR);
          v128.store(to, b1, 3 * PAIR);
          const a = v128.load(others + g);
          const b = v128.load(others + g, PAIR);
          const moreA = f64x2.sub(v128.load(own + g), a);
          const moreB = f64x2.sub(v128.load(own + g, PAIR), b);
          a0 = timesGroup(a0, a, moreA, node0);
          b0 = timesGroup(b0, b, moreB, node0);
          a1 = timesGroup(a1, a, moreA, node1);
          b1 = timesGroup(b1, b, moreB, node1);
        }
        a0 = f64x2.splat(1);
        b0 = a0;
        a1 = a0;
        b1 = a0;
        for (let g = end; g > start;) {
          g -= FOUR;
          to -= 2 * FOUR;
          const a = v128.load(others + g);
          const b = v128.load(others + g, PAIR);
          const moreA = f64x2.sub(v128.load(own + g), a);
          const moreB = f64x2.sub(v128.load(own + g, PAIR), b);
          addGain(gains + g, moreA, to, a0, a1);
          addGain(gains + g + PAIR, moreB, to + PAIR, b0, b1);
          a0 = timesGroup(a0, a, moreA, node0);
          b0 = timesGroup(b0, b, moreB, node0);
          a1 = timesGroup(a1, a, moreA, node1);
          b1 = timesGroup(b1, b, moreB, node1);
        }
      }
    }
  }
}

/**
 * Divides the factors of the foreground row by those of each background row: from four points of each group after the other
 * to a list of points per group.
 *
 * @param ratios rows × groups × points
 */
export function findRatios(
  own: usize,
  size: usize,
  others: usize,
  groups: usize,
  ratios: usize,
  ratiosEnd: usize,
): void {
  for (; ratios < ratiosEnd; others += size) {
    for (let group: usize = 0; group < groups; group += FOUR) {
      for (let at = group; at < size; at += groups, ratios += FOUR) {
        v128.store(ratios, f64x2.div(v128.load(own + at), v128.load(others + at)));
        v128.store(ratios, f64x2.div(v128.load(own + at, PAIR), v128.load(others + at, PAIR)), PAIR);
      }
    }
  }
}

class Points {
  /** Multiplies or divides a list by another one, and returns its sum. */
  @inline
  static change(isDivided: bool, list: usize, by: usize, points: usize): f64 {
    let ab = f64x2.splat(0);
    let cd = f64x2.splat(0);
    for (const end = list + points; list < end; list += FOUR, by += FOUR) {
      let first = v128.load(list);
      let second = v128.load(list, PAIR);
      first = isDivided ? f64x2.div(first, v128.load(by)) : f64x2.mul(first, v128.load(by));
      second = isDivided ? f64x2.div(second, v128.load(by, PAIR)) : f64x2.mul(second, v128.load(by, PAIR));
      v128.store(list, first);
      v128.store(list, second, PAIR);
      ab = f64x2.add(ab, first);
      cd = f64x2.add(cd, second);
    }
    return sumOfLanes(ab) + sumOfLanes(cd);
  }
}

/**
 * Per mixture, writes the change of the score of each output.
 *
 * @param points bytes of a list of points
 * @param starts outputs × points: the kernel times the weights, where each walk begins
 * @param flips per mixture, the address of the list by which the kernel is multiplied (divided: `BACKWARDS`); 0: none
 * @param walk bytes of the flips of a walk
 * @param kernel scratch for as many numbers as `starts`
 * @param scores scratch, one number per output
 * @param changes mixtures × outputs
 */
export function followFlips(
  starts: usize,
  points: usize,
  flips: usize,
  flipsEnd: usize,
  walk: usize,
  kernel: usize,
  scores: usize,
  scoresEnd: usize,
  changes: usize,
): void {
  const outputs = scoresEnd - scores;
  while (flips < flipsEnd) {
    memory.copy(kernel, starts, (outputs / NUMBER) * points);
    memory.fill(scores, 0, outputs);
    for (const end = flips + walk; flips < end; flips += WHOLE) {
      const by: usize = load<u32>(flips);
      if (!by) {
        memory.fill(changes, 0, outputs);
        changes += outputs;
        continue;
      }
      let list = kernel;
      for (let score = scores; score < scoresEnd; score += NUMBER, changes += NUMBER, list += points) {
        const sum =
          by & BACKWARDS
            ? Points.change(true, list, by ^ BACKWARDS, points)
            : Points.change(false, list, by, points);
        store<f64>(changes, sum - load<f64>(score));
        store<f64>(score, sum);
      }
    }
  }
}
