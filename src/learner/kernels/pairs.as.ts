/** Sums that several kernels share. */

export function sumOfLanes(pair: v128): f64 {
  return f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
}

/** `sums` plus the products of two pairs. */
export function plusProduct(sums: v128, a: v128, b: v128): v128 {
  return f64x2.add(sums, f64x2.mul(a, b));
}

/** Adds to the first of two sums. */
export function plusFirst(sums: v128, value: f64): v128 {
  return f64x2.replace_lane(sums, 0, f64x2.extract_lane(sums, 0) + value);
}

/** Adds a pair to one in memory. */
export function addPair(at: usize, pair: v128): void {
  v128.store(at, f64x2.add(v128.load(at), pair));
}

/** Adds to a number in memory. */
export function addNumber(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}
