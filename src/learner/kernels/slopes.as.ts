import {
  addPair,
  dot0,
  dot1,
  dot2,
  dot3,
  Exponential,
  FourDots,
  NUMBER,
  PAIR,
  plusProduct,
  WHOLE,
} from './shared.as';

/* The loops of `Slopes`. */

function rowAt(rows: usize, i: usize, length: usize, features: usize): usize {
  return load<u32>(rows + i * WHOLE) * length + features;
}

/**
 * Per row, the dot product of its features and the weights, for a multiple of four rows.
 *
 * @param even length of the weights in groups of four
 * @param length of all of them
 * @param out receives them, `stride` apart
 */
export function dotFour(
  rows: usize,
  end: usize,
  features: usize,
  even: usize,
  length: usize,
  weights: usize,
  out: usize,
  stride: usize,
): void {
  for (; rows < end; rows += 4 * WHOLE) {
    const row0 = rowAt(rows, 0, length, features);
    const row1 = rowAt(rows, 1, length, features);
    const row2 = rowAt(rows, 2, length, features);
    const row3 = rowAt(rows, 3, length, features);
    FourDots.find(row0, row1, row2, row3, weights, weights + even, weights + length);
    store<f64>(out, dot0);
    out += stride;
    store<f64>(out, dot1);
    out += stride;
    store<f64>(out, dot2);
    out += stride;
    store<f64>(out, dot3);
    out += stride;
  }
}

/**
 * Adds each row's features times its error to sums, for a multiple of four rows.
 *
 * @param even length of the sums in pairs
 * @param length of all of them
 * @param stride distance between the errors of two rows
 */
export function addRowsFour(
  rows: usize,
  end: usize,
  features: usize,
  even: usize,
  length: usize,
  sums: usize,
  errors: usize,
  stride: usize,
): void {
  for (; rows < end; rows += 4 * WHOLE, errors += 4 * stride) {
    const row0 = rowAt(rows, 0, length, features);
    const row1 = rowAt(rows, 1, length, features);
    const row2 = rowAt(rows, 2, length, features);
    const row3 = rowAt(rows, 3, length, features);
    const error0 = load<f64>(errors);
    const error1 = load<f64>(errors + stride);
    const error2 = load<f64>(errors + 2 * stride);
    const error3 = load<f64>(errors + 3 * stride);
    const pair0 = f64x2.splat(error0);
    const pair1 = f64x2.splat(error1);
    const pair2 = f64x2.splat(error2);
    const pair3 = f64x2.splat(error3);
    let at: usize = 0;
    for (; at < even; at += PAIR) {
      let sum = plusProduct(v128.load(sums + at), pair0, v128.load(row0 + at));
      sum = plusProduct(sum, pair1, v128.load(row1 + at));
      sum = plusProduct(sum, pair2, v128.load(row2 + at));
      v128.store(sums + at, plusProduct(sum, pair3, v128.load(row3 + at)));
    }
    for (; at < length; at += NUMBER) {
      const sum = load<f64>(sums + at) + error0 * load<f64>(row0 + at) + error1 * load<f64>(row1 + at);
      store<f64>(sums + at, sum + error2 * load<f64>(row2 + at) + error3 * load<f64>(row3 + at));
    }
  }
}

/* The loop of `SparseSlopes` over rows, two classes at a time. */

/**
 * Adds the log-loss gradient of rows. Lists per class are padded to pairs, of `width` bytes in all.
 *
 * @param ends per row, where its entries end, in entries; up to `endsEnd`. The number before them is 0
 * @param terms per entry, the distance of its term's classes from the first term's
 * @param by the value of each entry
 * @param codes the class of each row
 * @param everywhere per class, what the common values score; -∞ for the padding
 * @param weights terms × classes
 * @param out terms × classes, which is added to
 * @param errors per class, which is added to
 * @param scores for a row
 * @param table of `writeExponentialTable`
 */
export function addSparseRows(
  ends: usize,
  endsEnd: usize,
  terms: usize,
  by: usize,
  codes: usize,
  width: usize,
  everywhere: usize,
  weights: usize,
  out: usize,
  errors: usize,
  scores: usize,
  table: usize,
): void {
  for (; ends < endsEnd; ends += WHOLE, codes += WHOLE) {
    // A row's entries begin where those of the row before end.
    const entries = load<u32>(ends) - load<u32>(ends - WHOLE);
    const byEnd = by + entries * NUMBER;
    let top: f64 = -Infinity;
    for (let pair: usize = 0; pair < width; pair += PAIR) {
      let sum = v128.load(everywhere + pair);
      let term = terms;
      for (let entry = by; entry < byEnd; entry += NUMBER, term += WHOLE) {
        sum = plusProduct(sum, v128.load64_splat(entry), v128.load(weights + pair + load<u32>(term)));
      }
      v128.store(scores + pair, sum);
      top = max<f64>(max<f64>(top, f64x2.extract_lane(sum, 0)), f64x2.extract_lane(sum, 1));
    }
    const tops = f64x2.splat(top);
    let total: f64 = 0;
    for (let pair: usize = 0; pair < width; pair += PAIR) {
      const power = Exponential.of(f64x2.sub(v128.load(scores + pair), tops), table);
      v128.store(scores + pair, power);
      total = total + f64x2.extract_lane(power, 0) + f64x2.extract_lane(power, 1);
    }
    const totals = f64x2.splat(total);
    for (let pair: usize = 0; pair < width; pair += PAIR) {
      v128.store(scores + pair, f64x2.div(v128.load(scores + pair), totals));
    }
    const own = scores + load<u32>(codes) * NUMBER;
    store<f64>(own, load<f64>(own) - 1);
    for (let pair: usize = 0; pair < width; pair += PAIR) {
      const error = v128.load(scores + pair);
      addPair(errors + pair, error);
      let term = terms;
      for (let entry = by; entry < byEnd; entry += NUMBER, term += WHOLE) {
        addPair(out + pair + load<u32>(term), f64x2.mul(v128.load64_splat(entry), error));
      }
    }
    terms += entries * WHOLE;
    by = byEnd;
  }
}
