/* The loop of `SparseSlopes` over rows, two classes at a time. */
import { Exponential } from './exponential.as';
import { addPair, plusProduct } from './pairs.as';

const WHOLE: usize = 4;
const NUMBER: usize = 8;
const PAIR: usize = 16;

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
